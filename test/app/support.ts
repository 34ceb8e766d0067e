/** An answer of the app API, as the test that asked expects it. */
// biome-ignore lint/suspicious/noExplicitAny: what it is, the expectations say
type Json = any;

export async function json(answer: Promise<Response>): Promise<Json> {
  return await (await answer).json();
}

/** What the API said, with its status beside it. */
export async function told(answer: Promise<Response>): Promise<Json> {
  const { status } = await answer;
  return { status, ...(await json(answer)) };
}
