import { canonicalJson } from '../../util/canonical-json.ts';
import { gvkKey } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import {
  isLabelKey,
  isLabelValue,
  type LabelRequirement,
  matchesRequirements,
} from '../../util/label-selector.ts';
import type { InformerQuery } from '../roles.ts';
import { createRetainFields, type RetainFields } from './stored-object.ts';

const byName = /^metadata\.name=([^=,!]+)$/;

/** A parsed informer query with a canonical key. */
export interface ResolvedQuery {
  readonly query: InformerQuery;
  /** Equal for queries with the same selection and logging rules. */
  readonly key: string;
  /** The name, if the query selects one object. */
  readonly name: string | undefined;
  readonly selects: (object: KubeObject) => boolean;
  /** Returns the object with the fields to cache. Undefined: the whole object. */
  readonly retainFields?: RetainFields;
}

/** @throws RangeError for an invalid selector. */
export function resolveQuery(query: InformerQuery): ResolvedQuery {
  const { gvk, namespace, fullObjects, isPrivate } = query;
  const requirements = parseLabelSelector(query.labelSelector ?? '');
  const labelSelector = formatLabelSelector(requirements);
  const fieldSelector = query.fieldSelector ?? '';
  const name = nameOf(fieldSelector);
  return {
    query: {
      gvk,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === '' ? {} : { labelSelector }),
      ...(fieldSelector === '' ? {} : { fieldSelector }),
      ...(fullObjects && { fullObjects }),
      ...(isPrivate && { isPrivate }),
    },
    key: JSON.stringify([
      gvkKey(gvk),
      namespace ?? null,
      labelSelector,
      fieldSelector,
      ...(fullObjects ? [canonicalJson(fullObjects)] : []),
      ...(isPrivate ? ['private'] : []),
    ]),
    name,
    selects: ({ metadata }) =>
      (namespace === undefined ||
        metadata.namespace === undefined ||
        metadata.namespace === namespace) &&
      (name === undefined || metadata.name === name) &&
      matchesRequirements(requirements, metadata.labels),
    ...(fullObjects && { retainFields: createRetainFields(fullObjects) }),
  };
}

function nameOf(fieldSelector: string): string | undefined {
  if (fieldSelector === '') return undefined;
  const [, name] = byName.exec(fieldSelector) ?? [];
  if (name !== undefined) return name;
  throw new RangeError(
    `Expected a field selector "metadata.name=<name>", found "${fieldSelector}"`,
  );
}

/**
 * Parses a label selector in API syntax: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by
 * commas. Requirements are sorted and deduplicated, so that equal selectors give equal results. An empty text selects
 * all.
 * @throws RangeError for anything else.
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  const byText = new Map<string, LabelRequirement>();
  for (const part of splitRequirements(text)) {
    const requirement = parseRequirement(part);
    byText.set(formatRequirement(requirement), requirement);
  }
  return [...byText.keys()].sort().flatMap((key) => byText.get(key) ?? []);
}

/** The reverse of {@link parseLabelSelector}, in canonical form. */
export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(',');
}

/** Splits at the commas outside of parentheses. */
function splitRequirements(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/);
}

const existence = /^(!?)\s*([^\s!=(),]+)$/;
const equality = /^([^\s!=(),]+)\s*(==|=|!=)\s*([^\s!=(),]*)$/;
const membership = /^([^\s!=(),]+)\s+(in|notin)\s*\(([^()]*)\)$/;

/** @throws RangeError for a requirement that the server would reject. */
function parseRequirement(text: string): LabelRequirement {
  const part = text.trim();
  const requirement = readRequirement(part);
  if (
    requirement !== undefined &&
    isLabelKey(requirement.key) &&
    requirement.values.every(isLabelValue)
  )
    return requirement;
  throw new RangeError(`Expected a label selector such as "a=b,c in (d,e),!f", found "${part}"`);
}

function readRequirement(part: string): LabelRequirement | undefined {
  const [, not, bareKey] = existence.exec(part) ?? [];
  if (bareKey !== undefined) {
    return { key: bareKey, operator: not === '!' ? 'DoesNotExist' : 'Exists', values: [] };
  }
  const [, equalKey, sign, value] = equality.exec(part) ?? [];
  if (equalKey !== undefined && value !== undefined) {
    return { key: equalKey, operator: sign === '!=' ? 'NotIn' : 'In', values: [value] };
  }
  const [, setKey, word, list] = membership.exec(part) ?? [];
  if (setKey === undefined || list === undefined) return undefined;
  const values = [...new Set(list.split(',').map((one) => one.trim()))].sort();
  return { key: setKey, operator: word === 'in' ? 'In' : 'NotIn', values };
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'In':
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`;
    case 'NotIn':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`;
  }
}
