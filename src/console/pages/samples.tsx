import type { SourceTabProps } from './source.tsx';

export default function Samples({ source }: SourceTabProps) {
  return <h2>{source.name}</h2>;
}
