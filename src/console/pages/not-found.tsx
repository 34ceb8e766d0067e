export function NotFound() {
  return (
    <>
      <h1>Nothing is here</h1>
      <p>
        There is no page at this address. <a href="/">To the overview</a>
      </p>
    </>
  );
}
