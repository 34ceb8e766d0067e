export default function Reference() {
  return <h1>Reference</h1>;
}
