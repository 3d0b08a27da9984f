import type { Json, JsonObject } from '#util/json.ts';
import { objectField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import type { ApiAnswer } from '../request/write-options.ts';
import type { ListPage } from '../rest/read-objects.ts';
import { inVersion } from '../rest/rest-context.ts';
import { badRequest } from '../status/api-errors.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type IncludedObject, type TableOptions, tableOf } from '../table/table-printer.ts';
import type { Representation } from './negotiation.ts';

export interface View {
  readonly kind: ServedKind;
  readonly representation: Representation;
  readonly query: URLSearchParams;
  readonly nowMs: number;
}

/** Converts an object to its representation; undefined = no conversion. */
export function objectConverter(view: View): ((object: JsonObject) => JsonObject) | undefined {
  const { representation } = view;
  switch (representation.kind) {
    case 'metadata':
      return metadataOnly;
    case 'table': {
      const options = tableOptions(view, representation.version);
      return (object) => tableOf(options, { objects: [object], metadata: versionOf(object) });
    }
    default:
      return undefined;
  }
}

/** Converts the objects of a watch; only the first table has column definitions. */
export function eventConverter(view: View, nowMs: () => number) {
  const { representation } = view;
  if (representation.kind !== 'table') return objectConverter(view);
  let hasColumns = true;
  return (object: JsonObject): JsonObject => {
    const options = { ...tableOptions(view, representation.version), nowMs: nowMs() };
    const table = tableOf(options, { objects: [object], metadata: versionOf(object), hasColumns });
    hasColumns = false;
    return table;
  };
}

/** Keeps the metadata of an object only. */
function metadataOnly(object: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

function versionOf(object: JsonObject): JsonObject {
  const { resourceVersion } = objectField(object, 'metadata') ?? {};
  return resourceVersion === undefined ? {} : { resourceVersion };
}

/** @throws StatusError 400 for an unknown value of `includeObject` */
function tableOptions({ kind, query, nowMs }: View, version: 'v1' | 'v1beta1'): TableOptions {
  const include = query.get('includeObject') || 'Metadata';
  if (!isIncluded(include))
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  return { kind, version, include, nowMs };
}

function isIncluded(text: string): text is IncludedObject {
  return ['None', 'Metadata', 'Object'].includes(text);
}

/** The JSON text of a list. */
export function listText(view: View, page: ListPage): string {
  const { kind, representation } = view;
  const metadata = listMetadata(view, page);
  if (representation.kind === 'table') {
    const objects = page.items.map((stored) => inVersion(kind, stored));
    return JSON.stringify(
      tableOf(tableOptions(view, representation.version), { objects, metadata }),
    );
  }
  const isPartial = representation.kind === 'metadata';
  const head = isPartial
    ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
    : { kind: kind.names.listKind, apiVersion: kind.apiVersion };
  const start = JSON.stringify({ ...head, metadata });
  const items = page.items.map((stored) => itemText(kind, stored, isPartial));
  return `${start.slice(0, -1)},"items":[${items.join(',')}]}`;
}

function listMetadata({ kind, representation }: View, page: ListPage): JsonObject {
  const { version, continueToken, remaining } = page;
  const isWhole = representation.kind === 'object';
  return {
    // Lists of custom resources always have this field.
    ...(continueToken === '' && !(isWhole && kind.isCustom) ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    resourceVersion: String(version),
  };
}

/** Items of built-in lists have no apiVersion and kind. */
function itemText(kind: ServedKind, stored: StoredObject, isPartial: boolean): string {
  const object = inVersion(kind, stored);
  if (isPartial) return JSON.stringify(metadataOnly(object));
  if (kind.isCustom) return object === stored.object ? stored.json() : JSON.stringify(object);
  const { kind: _, apiVersion: __, ...rest } = object;
  return JSON.stringify(rest);
}

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

/** Adds a warning before the warnings that the answer has already. */
export function withWarning(answer: ApiAnswer, text: string | undefined): ApiAnswer {
  if (text === undefined) return answer;
  const { warning } = answer.headers;
  const first = warningText(text);
  const all = warning === undefined ? first : `${first}, ${warning}`;
  return { ...answer, headers: { ...answer.headers, warning: all } };
}

function warningText(text: string): string {
  return `299 - ${JSON.stringify(text)}`;
}

export function textAnswer(body: string, status = 200): ApiAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}
