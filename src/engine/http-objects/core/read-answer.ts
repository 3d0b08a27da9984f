import type { WorkBudget } from '#compile/language/index.ts';
import type { TransportAnswer } from '#kube/roles.ts';
import { parseJson } from '#util/exact-json.ts';
import { foreignText } from '#util/foreign-text.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { ObjectMeta } from '#util/kube-object.ts';
import { type Code, type CodeScope, evaluateCode } from '../spec/code-field.ts';
import { fieldPathOf, valueAtPath } from '../spec/field-path.ts';
import type { ObjectSpec } from '../spec/object-spec.ts';
import { isSafeValue } from '../spec/path-template.ts';
import { type Answer, type Found, failureOf, type Role, retryAfterOf } from './answer.ts';
import { matches } from './compare.ts';

/** An answer, with what code can read of it. */
export interface ReadAnswer {
  readonly answer: Answer;
  readonly scope: CodeScope;
}

export interface AnswerReader {
  /** Undefined: it is not valid, and the object is being deleted. */
  readonly spec: ObjectSpec | undefined;
  readonly metadata: ObjectMeta;
  readonly id: string | undefined;
  /** Method and path of the request. */
  readonly request: string;
  /** Where its credentials are from. */
  readonly auth: string;
  /** What `find` compares, by field path. */
  readonly match: JsonObject;
  /** Whether the text of an error may be shown: no credentials and inputs are used. */
  readonly showsErrors: boolean;
  /** Removes values of Secrets from a text. */
  readonly mask: (text: string) => string;
  readonly nowMs: number;
  /** Of the reconcile. @default only the limits of each evaluation */
  readonly budget?: WorkBudget;
}

const maxDepth = 64;
const maxErrorLength = 300;

/**
 * Reads what an answer means for the object. Code of the author that fails is a failure of the answer, so that nothing is created or
 * deleted for it.
 */
export async function readAnswer(
  role: Role,
  raw: TransportAnswer,
  reader: AnswerReader,
): Promise<ReadAnswer> {
  const content = contentOf(raw);
  const scope = scopeOf(raw, content, reader);
  try {
    return { scope, answer: await answerOf(role, raw, { content, scope, reader }) };
  } catch (error) {
    // Errors of code name the values that it was given.
    const message = reader.mask(error instanceof Error ? error.message : String(error));
    return { scope, answer: failed(raw.status, 'CodeFailed', message) };
  }
}

type Content =
  | { readonly kind: 'json'; readonly body: Json }
  | { readonly kind: 'empty' }
  | { readonly kind: 'html' }
  | { readonly kind: 'other' };

function contentOf({ headers, body }: TransportAnswer): Content {
  const text = body.trim();
  if (text === '') return { kind: 'empty' };
  if (/\bhtml\b/i.test(headers['content-type'] ?? '') || text.startsWith('<'))
    return { kind: 'html' };
  try {
    const value = parseJson(text);
    return isTooDeep(value) ? { kind: 'other' } : { kind: 'json', body: value };
  } catch {
    return { kind: 'other' };
  }
}

interface Reading {
  readonly content: Content;
  readonly scope: CodeScope;
  readonly reader: AnswerReader;
}

async function answerOf(role: Role, raw: TransportAnswer, reading: Reading): Promise<Answer> {
  const { status } = raw;
  const { content, scope, reader } = reading;
  const observes = role === 'observe' || role === 'find';
  if (observes && reader.spec?.absent !== undefined) {
    if ((await evaluateCode(reader.spec.absent, scope, reader.budget)) === true)
      return { kind: 'absent', status };
  }
  // A list that does not exist is no empty list: `find` may have a wrong path.
  if (role === 'observe' && (status === 404 || status === 410) && content.kind !== 'html')
    return { kind: 'absent', status };
  // Deleted by an earlier request, perhaps: an observation confirms it.
  if (role === 'delete' && (status === 404 || status === 410)) return { kind: 'ok', status };
  if (status < 200 || status > 299) return rejected(role, raw, reading);
  switch (role) {
    case 'observe':
      return observed(raw, reading);
    case 'find':
      return found(raw, reading);
    case 'create': {
      const result = await createdResult(reading);
      const id = await createdId(reading, result);
      return {
        kind: 'ok',
        status,
        ...(id !== undefined && { id }),
        ...(isJsonObject(result) && { result }),
      };
    }
    default:
      return { kind: 'ok', status };
  }
}

async function observed({ status }: TransportAnswer, reading: Reading): Promise<Answer> {
  const { content, scope, reader } = reading;
  if (content.kind !== 'json') return failed(status, 'NotJson', notJson(content));
  if (reader.spec === undefined) return { kind: 'ok', status };
  const result = await evaluateCode(reader.spec.observe.result, scope, reader.budget);
  if (result === undefined)
    return failed(
      status,
      'ResultMissing',
      'Expected an object in the answer ("observe.result"), found none',
    );
  return { kind: 'ok', status, result };
}

async function found({ status }: TransportAnswer, reading: Reading): Promise<Answer> {
  const { content, scope, reader } = reading;
  const { find } = reader.spec ?? {};
  // Without a valid spec, what is found cannot be compared: nothing is known.
  if (find === undefined)
    return failed(status, 'Invalid', 'Expected a valid spec, with which an object is found');
  if (content.kind !== 'json') return failed(status, 'NotJson', notJson(content));
  const value = await evaluateCode(find.results, scope, reader.budget);
  // An error that is sent with the status 200 has no list. Code that selects objects may select none, or one.
  if (!Array.isArray(value) && find.results.plainPath !== undefined)
    return failed(
      status,
      'ResultMissing',
      `Expected a list in the answer ("find.results"), found ${reader.mask(listText(value))}`,
    );
  const list = value === undefined ? [] : Array.isArray(value) ? value : [value];
  const mismatch = matchProblem(reader.match, list);
  if (mismatch !== undefined) return failed(status, 'MatchInvalid', mismatch);
  const matching = list.filter((item) => matches(reader.match, item));
  const all: Found[] = [];
  // More are a conflict anyway.
  for (const result of matching.slice(0, 100))
    all.push({ id: await foundId(result, reading), result });
  return { kind: 'ok', status, found: all };
}

/** What was found instead of a list: the names of fields that have one, and no values. */
function listText(value: Json | undefined): string {
  if (value === undefined || value === null) return 'none';
  if (!isJsonObject(value)) return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
  const names = Object.keys(value).filter(
    (name) => Array.isArray(value[name]) && /^[A-Za-z_][\w-]{0,39}$/.test(name),
  );
  const shown = names.slice(0, 3).map((name) => `"${name}"`);
  return shown.length === 0 ? 'an object' : `an object with ${shown.join(', ')}`;
}

/** Why no object can match: a field that exists nowhere would look like an object that does not exist. */
function matchProblem(match: JsonObject, list: readonly Json[]): string | undefined {
  for (const [path, expected] of Object.entries(match)) {
    const steps = fieldPathOf(path) ?? [path];
    const where =
      expected === undefined
        ? 'in "desired"'
        : list.every((item) => valueAtPath(item, steps) === undefined) && list.length > 0
          ? 'in an object of the answer'
          : undefined;
    if (where !== undefined)
      return `Expected the field "${path}" ("find.match") ${where}, found none`;
  }
  return undefined;
}

/** What `observe.result` is for the answer to `create`, which many APIs answer with the object. Undefined: it has none. */
async function createdResult({ content, scope, reader }: Reading): Promise<Json | undefined> {
  const { observe } = reader.spec ?? {};
  if (observe === undefined || content.kind !== 'json') return undefined;
  // Code for another answer may fail: then nothing is known.
  return evaluateCode(observe.result, scope, reader.budget).catch(() => undefined);
}

/** `id` of the answer to `create`. Without the envelope of `observe`, `result` is the whole body. */
async function createdId(
  { content, scope, reader }: Reading,
  result: Json | undefined,
): Promise<string | undefined> {
  const { id } = reader.spec ?? {};
  if (id === undefined || content.kind !== 'json') return undefined;
  return idOf(await evaluateCode(id, { ...scope, result: result ?? content.body }, reader.budget));
}

/** `id` of an object in a list: `result` is the object, and `body` has it instead of the list. */
async function foundId(result: Json, { scope, reader }: Reading): Promise<string | undefined> {
  const { id, find } = reader.spec ?? {};
  if (id === undefined) return undefined;
  const narrowed = narrowedBody(scope.body, find?.results, result);
  return idOf(await evaluateCode(id, { ...scope, result, body: narrowed }, reader.budget));
}

/** The body with one object in the place of the list. */
function narrowedBody(body: Json | undefined, results: Code | undefined, result: Json): Json {
  const [first, ...steps] = results?.plainPath ?? [];
  if (first !== 'body') return body ?? null;
  return replacedAt(body, steps, result);
}

function replacedAt(value: Json | undefined, steps: readonly string[], result: Json): Json {
  const [first, ...others] = steps;
  if (first === undefined) return result;
  if (!isJsonObject(value)) return value ?? null;
  return { ...value, [first]: replacedAt(value[first], others, result) };
}

/** An id: a text or an integer that can be a part of a path. */
export function idOf(value: Json | undefined): string | undefined {
  const isId = typeof value === 'string' || typeof value === 'bigint' || Number.isInteger(value);
  const text = isId ? String(value) : '';
  return text.length <= 512 && isSafeValue(text) ? text : undefined;
}

async function rejected(
  role: Role,
  raw: TransportAnswer,
  { content, scope, reader }: Reading,
): Promise<Answer> {
  const { status, headers } = raw;
  const { spec, showsErrors, mask, nowMs, budget } = reader;
  const head = headOf(role, status, reader);
  let detail: Json | undefined;
  if (spec?.error !== undefined) detail = await evaluateCode(spec.error, scope, budget);
  else if (showsErrors && content.kind !== 'html') detail = raw.body.trim();
  const text = typeof detail === 'string' ? foreignText(mask(detail), maxErrorLength) : '';
  const retryAfterMs = retryAfterOf(headers['retry-after'], nowMs);
  const isHtml = content.kind === 'html' && status === 404;
  const message = isHtml ? `${head}, a page of HTML, which is not the answer of an API` : head;
  return {
    kind: 'failed',
    failure: failureOf(status, {
      message: text === '' ? message : `${message}: ${text}`,
      retryAfterMs,
    }),
  };
}

/** The request, its status, and what the status means for this role. */
function headOf(role: Role, status: number, { request, auth, mask }: AnswerReader): string {
  const head = `${foreignText(mask(request), maxErrorLength)} was answered with ${status}`;
  if (status === 401 || status === 403) return `${head} (sent with ${auth})`;
  const isMissing = role === 'find' && (status === 404 || status === 410);
  return isMissing
    ? `${head}; if "find" answers so when nothing exists, set "absent: $(code = ${status})"`
    : head;
}

function failed(status: number, reason: string, message: string): Answer {
  return {
    kind: 'failed',
    failure: { class: 'later', ...{ reason, message, status }, mayHaveArrived: true },
  };
}

function notJson({ kind }: Content): string {
  const what = {
    empty: 'an empty body',
    html: 'a page of HTML',
    other: 'another body',
    json: 'JSON',
  };
  return `Expected JSON in the answer, found ${what[kind]}`;
}

function scopeOf(
  { status, headers }: TransportAnswer,
  content: Content,
  { spec, metadata, id }: AnswerReader,
): CodeScope {
  const { name, namespace, uid, labels = {}, annotations = {} } = metadata;
  return {
    ...(id !== undefined && { id }),
    ...(spec && { params: spec.params, desired: spec.desired }),
    code: status,
    headers,
    ...(content.kind === 'json' && { body: content.body }),
    metadata: {
      ...{ name, labels },
      annotations: withoutOwn(annotations),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
    },
  };
}

/** Annotations of the runtime are no input of code. */
function withoutOwn(annotations: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name]) => !name.startsWith('homeostat.dev/')),
  );
}

/** Iterative: a body can be nested deeper than the stack. */
function isTooDeep(value: Json): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null
        ? Object.values(each).filter((item) => typeof item === 'object' && item !== null)
        : [],
    );
  }
  return false;
}
