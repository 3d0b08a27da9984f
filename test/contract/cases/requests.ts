import type { Json, JsonObject } from '#util/json.ts';
import type { Expectation, RequestStep } from '../driver/index.ts';

/** Paths and requests that many cases begin with. */
export const configMaps = '/api/v1/namespaces/$(ns)/configmaps';
export const things = '/apis/$(group)/v1/namespaces/$(ns)/things';
export const plains = '/apis/$(group)/v1/namespaces/$(ns)/plains';

export const applyType = { 'content-type': 'application/apply-patch+yaml' };
export const mergeType = { 'content-type': 'application/merge-patch+json' };
export const jsonPatchType = { 'content-type': 'application/json-patch+json' };
export const strategicType = { 'content-type': 'application/strategic-merge-patch+json' };

export function configMap(data: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata }, data };
}

export function thing(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: '$(group)/v1',
    kind: 'Thing',
    metadata: { name: 'x', ...metadata },
    spec,
  };
}

export function plain(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: '$(group)/v1',
    kind: 'Plain',
    metadata: { name: 'x', ...metadata },
    spec,
  };
}

type Extra = Partial<Pick<RequestStep, 'save' | 'headers'>>;

export function get(path: string, expect: Expectation, extra: Extra = {}): RequestStep {
  return { method: 'GET', path, expect, ...extra };
}

export function post(
  path: string,
  body: Json,
  expect: Expectation,
  extra: Extra = {},
): RequestStep {
  return { method: 'POST', path, body, expect, ...extra };
}

export function put(path: string, body: Json, expect: Expectation, extra: Extra = {}): RequestStep {
  return { method: 'PUT', path, body, expect, ...extra };
}

export function merge(
  path: string,
  body: Json,
  expect: Expectation,
  extra: Extra = {},
): RequestStep {
  return { method: 'PATCH', path, body, expect, headers: mergeType, ...extra };
}

export function jsonPatch(
  path: string,
  body: Json,
  expect: Expectation,
  extra: Extra = {},
): RequestStep {
  return { method: 'PATCH', path, body, expect, headers: jsonPatchType, ...extra };
}

export function remove(path: string, body: Json | undefined, expect: Expectation): RequestStep {
  return { method: 'DELETE', path, expect, ...(body === undefined ? {} : { body }) };
}

export interface ApplyStep {
  readonly to: string;
  /** The field manager. */
  readonly by: string;
  readonly body: Json;
  readonly force?: boolean;
  /** More of the query: `&dryRun=All`. */
  readonly query?: string;
  readonly expect: Expectation;
  readonly save?: RequestStep['save'];
}

export function apply(step: ApplyStep): RequestStep {
  const { to, by, body, force, query = '', expect, save } = step;
  const forced = force === undefined ? '' : `&force=${force}`;
  const path = `${to}?fieldManager=${by}${forced}${query}`;
  const saved = save === undefined ? {} : { save };
  return { method: 'PATCH', path, body, expect, headers: applyType, ...saved };
}
