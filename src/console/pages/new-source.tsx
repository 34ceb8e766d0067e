export default function NewSource() {
  return <h1>NewSource</h1>;
}
