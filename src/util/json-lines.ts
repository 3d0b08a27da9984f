import { parseJson } from './exact-json.ts';

/** The JSON values of a stream with one value on each line. */
export async function* jsonLines(
  chunks: AsyncIterable<string>,
): AsyncGenerator<unknown, void, undefined> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield parseJson(line);
  }
  if (rest.trim() !== '') yield parseJson(rest);
}

/** The text of a response body, as it arrives. */
export async function* textChunks(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      yield decoder.decode(next.value, { stream: true });
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
