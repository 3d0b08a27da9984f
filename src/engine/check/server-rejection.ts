import type { Finding } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';

/** One reason of an API server to reject an object. */
export interface Cause {
  /** `FieldValueRequired`, or empty. */
  readonly reason: string;
  /** `spec.links[0].url`; empty where the server names none. */
  readonly field: string;
  readonly message: string;
}

/** The causes in a Status; without any, its message. */
export function causesOf({ details, message }: JsonObject): readonly Cause[] {
  const causes = isJsonObject(details) && Array.isArray(details.causes) ? details.causes : [];
  const known = causes.filter(isJsonObject).map((cause) => ({
    reason: String(cause.reason ?? ''),
    field: String(cause.field ?? ''),
    message: String(cause.message ?? ''),
  }));
  return known.length > 0 ? known : [{ reason: '', field: '', message: String(message) }];
}

/** The server's message without the value, which the file shows; an error in a CEL rule has its place in the rule. */
export function rejectionFinding(text: string): Pick<Finding, 'message' | 'at'> {
  const cel = /compilation failed: ERROR: <input>:(\d+):(\d+): (.*)/.exec(text);
  if (cel !== null) {
    const [, line, column, problem] = cel;
    const message = `The API server cannot compile this CEL expression: ${problem}`;
    return { message, ...(line === '1' && { at: Number(column) - 1 }) };
  }
  const reason = text.replace(
    /^(?:Invalid|Unsupported) value: (?:"(?:[^"\\]|\\.)*"|\{.*\}|\[.*\]|[^:]*): /,
    '',
  );
  return { message: `The API server rejects this: ${reason.replace(/^Invalid value: /, '')}` };
}
