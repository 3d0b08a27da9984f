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
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
  return { status, headers: { ...jsonHeaders, warning }, body };
}

export function textAnswer(body: string, status = 200): ApiAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}
