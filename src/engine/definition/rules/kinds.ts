import { apiVersionOf, type Gvk, groupKindKey, gvkOf } from '#util/gvk.ts';
import { type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, itemsAt, mapsAt, quotedList, valueAt } from '../tree.ts';
import { containsExpression, type Rule } from './rule.ts';

/** The kind in a text such as `apps/v1/Deployment`. Undefined: it is no such text. */
export function parseKind(text: unknown): Gvk | undefined {
  if (typeof text !== 'string') return undefined;
  const [, apiVersion, kind] =
    /^((?:[a-z0-9.-]+\/)?v[a-z0-9]+)\/([A-Z][A-Za-z0-9]*)$/.exec(text) ?? [];
  return apiVersion === undefined || kind === undefined ? undefined : gvkOf(apiVersion, kind);
}

/** `kinds` lists kinds that the expressions of the template may return. */
export const checkKinds: Rule = function* (document) {
  for (const { value, path } of mapsAt(document, '/spec/children')) {
    const at = pointerTo(path, 'kinds');
    const written = valueAt(document, at);
    if (written === undefined || !Array.isArray(written)) continue;
    yield* checkUse(value, { at, size: written.length });
    const seen = new Set<string>();
    for (const { value: text, path: item } of itemsAt(document, at)) {
      const problem = problemOf(text, value, seen);
      if (problem !== undefined) yield { code: 'invalid-value', ...problem, path: item };
    }
  }
};

/** Is the kind of the template computed? */
export function isComputedKind(template: unknown): boolean {
  return ['apiVersion', 'kind'].some((field) => {
    const value = fieldOf(template, field);
    return typeof value === 'string' && containsExpression(value);
  });
}

function* checkUse(
  child: JsonObject,
  { at, size }: { readonly at: string; readonly size: number },
): Iterable<Finding> {
  if (size === 0) {
    const message = 'Expected at least one kind in "kinds", found none';
    yield { code: 'invalid-value', path: at, at: 'key', message };
  }
  if (isComputedKind(child.template)) return;
  const message =
    '"kinds" has no effect: "apiVersion" and "kind" of the template are no expressions';
  const hint = 'Write "kind: ${ ... }" in the template, or leave "kinds" out';
  yield { code: 'invalid-value', path: at, at: 'key', message, hint };
}

function problemOf(
  text: unknown,
  { template }: JsonObject,
  seen: Set<string>,
): Pick<Finding, 'message' | 'hint'> | undefined {
  if (typeof text !== 'string') return undefined;
  const gvk = parseKind(text);
  if (gvk === undefined) {
    const message = `Expected an API version and a kind such as "apps/v1/Deployment", found ${describeFound(text)}`;
    return { message };
  }
  if (gvk.group === 'homeostat.dev' || gvk.group.endsWith('.homeostat.dev'))
    return { message: `"${gvk.kind}" cannot be in "kinds": write a child of its own` };
  const key = groupKindKey(gvk);
  if (seen.has(key)) return { message: `"${gvk.kind}" is in "kinds" twice` };
  seen.add(key);
  for (const [field, value] of [
    ['apiVersion', apiVersionOf(gvk)],
    ['kind', gvk.kind],
  ] as const) {
    const literal = fieldOf(template, field);
    if (typeof literal !== 'string' || containsExpression(literal) || literal === value) continue;
    return {
      message: `The template cannot have the kind "${text}": its ${field} is ${quotedList([literal])}`,
      hint: `Write an expression in "${field}", or leave the kind out`,
    };
  }
  return undefined;
}
