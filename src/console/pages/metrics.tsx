export default function Metrics() {
  return <h1>Metrics</h1>;
}
