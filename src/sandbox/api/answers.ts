import type { Json } from '../../util/json.ts';
import type { ApiAnswer } from '../request/index.ts';

const jsonHeaders = { 'content-type': 'application/json' };

export function jsonAnswer(
  status: number,
  body: Json,
  warnings: readonly string[] = [],
): ApiAnswer {
  return jsonTextAnswer(status, JSON.stringify(body), warnings);
}

export function jsonTextAnswer(
  status: number,
  body: string,
  warnings: readonly string[] = [],
): ApiAnswer {
  if (warnings.length === 0) return { status, headers: jsonHeaders, body };
  const warning = warnings.map(warningText).join(', ');
  return { status, headers: { ...jsonHeaders, warning }, body };
}

/** An answer that says something more, before all else that it says. */
export function withWarning(answer: ApiAnswer, text: string | undefined): ApiAnswer {
  if (text === undefined) return answer;
  const { warning } = answer.headers;
  const said = warningText(text);
  const all = warning === undefined ? said : `${said}, ${warning}`;
  return { ...answer, headers: { ...answer.headers, warning: all } };
}

function warningText(text: string): string {
  return `299 - ${JSON.stringify(text)}`;
}

export function textAnswer(body: string, status = 200): ApiAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}
