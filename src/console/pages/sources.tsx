export default function Sources() {
  return <h1>Sources</h1>;
}
