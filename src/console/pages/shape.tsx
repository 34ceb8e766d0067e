import type { SourceTabProps } from './source.tsx';

export default function Shape({ source }: SourceTabProps) {
  return <h2>{source.name}</h2>;
}
