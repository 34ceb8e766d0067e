import type { SourceTabProps } from './source.tsx';

export default function Deliveries({ source }: SourceTabProps) {
  return <h2>{source.name}</h2>;
}
