import { type JsonLimits, mostServerLevels } from './json-scan.ts';
import { parseWithin } from './limited-json.ts';

/** Of one line; an event of a watch has an object of at most 3 MiB. */
export interface LineLimits extends JsonLimits {
  /** Longer lines are not collected, in characters. */
  readonly maxLength: number;
}

/** For a stream of a trusted server. */
const trustedLines: LineLimits = {
  maxLength: 33_554_432,
  fromLength: 65_536,
  maxCost: 134_217_728,
  maxDepth: mostServerLevels,
};

/**
 * The JSON values of a stream with one value on each line. A last line without an end that is not complete is dropped: the stream was cut off.
 * @param limits @default those of a trusted server
 * @throws RangeError for a line that is too long, JsonLimitError, SyntaxError
 */
export async function* jsonLines(
  chunks: AsyncIterable<string>,
  limits: LineLimits = trustedLines,
): AsyncGenerator<unknown, void, undefined> {
  // Joined once: a line that arrives in many pieces would be copied for each of them.
  let pieces: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n');
    pieces.push(first);
    length += first.length;
    if (length > limits.maxLength)
      throw new RangeError(`The stream sent a line of more than ${limits.maxLength} characters`);
    const rest = others.pop();
    if (rest === undefined) continue;
    for (const line of [pieces.join(''), ...others])
      if (line !== '') yield parseWithin(line, limits);
    pieces = [rest];
    length = rest.length;
  }
  const last = completeValue(pieces.join(''), limits);
  if (last !== undefined) yield last;
}

/** Undefined: the text ends too early. @throws JsonLimitError */
function completeValue(text: string, limits: LineLimits): unknown {
  try {
    return parseWithin(text, limits);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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
