import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { itemsAt, mapAt, valueAt } from '../tree.ts';
import { isDnsLabel1035, isDnsSubdomain } from './dns-name.ts';
import type { Rule } from './rule.ts';

const names = '/spec/crd/names';

/** Group, kind and names of a CRD are spelled as the API server wants them. */
export const checkCrdNames: Rule = function* (document) {
  yield* checkGroup(valueAt(document, '/spec/crd/group'));
  for (const field of ['plural', 'singular'] as const) {
    yield* checkLabel(valueAt(document, `${names}/${field}`), `${names}/${field}`);
  }
  for (const field of ['shortNames', 'categories'] as const) {
    for (const { value, path } of itemsAt(document, `${names}/${field}`))
      yield* checkLabel(value, path);
  }
  yield* checkKinds(mapAt(document, names));
};

function* checkGroup(group: unknown): Iterable<Finding> {
  if (typeof group !== 'string') return;
  if (isDnsSubdomain(group) && group.includes('.')) return;
  yield {
    code: 'invalid-name',
    path: '/spec/crd/group',
    message: `Expected a domain in lower case with at least one dot, found ${found(group)}`,
    hint: 'Such as "apps.example.com"',
  };
}

function* checkLabel(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string' || isDnsLabel1035(value)) return;
  yield {
    code: 'invalid-name',
    path,
    message: `Expected lower-case letters, digits and "-" (at most 63, a letter first), found ${found(value)}`,
    hint: isDnsLabel1035(value.toLowerCase()) ? `Write "${value.toLowerCase()}"` : undefined,
  };
}

function* checkKinds({ kind, listKind }: { readonly [field: string]: unknown }): Iterable<Finding> {
  for (const [field, value] of [
    ['kind', kind],
    ['listKind', listKind],
  ] as const) {
    if (typeof value !== 'string' || isKind(value)) continue;
    const capital = value.charAt(0).toUpperCase() + value.slice(1);
    yield {
      code: 'invalid-name',
      path: pointerTo(names, field),
      message: `Expected a kind in CamelCase, found ${found(value)}`,
      hint: isKind(capital) ? `Write "${capital}"` : undefined,
    };
  }
  if (typeof kind === 'string' && kind === listKind) {
    const message = `Expected another name than that of the kind, found ${found(listKind)}`;
    yield { code: 'invalid-name', path: `${names}/listKind`, message };
  }
}

function isKind(value: string): boolean {
  return /^[A-Z]/.test(value) && isDnsLabel1035(value.toLowerCase());
}
