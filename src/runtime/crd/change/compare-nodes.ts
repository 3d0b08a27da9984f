import { deepEqual } from '../../../util/deep-equal.ts';
import type { Json, JsonObject } from '../../../util/json.ts';
import {
  checkMaxCount,
  checkMaximum,
  checkMinCount,
  checkMinimum,
  checkMultipleOf,
} from './bounds.ts';
import {
  type BreakingChange,
  type KeywordRule,
  type NodePair,
  type NodePlace,
  nameOf,
  quoted,
} from './breaking-change.ts';
import { checkAllOf, checkAnyOf, checkSameLogic } from './logic-rules.ts';
import { checkItems, checkMapValues, checkProperties } from './part-rules.ts';
import {
  checkDefault,
  checkEnum,
  checkFormat,
  checkNullable,
  checkPattern,
  checkPreserved,
  checkRequired,
  checkSame,
  checkType,
  checkValidations,
  isText,
} from './value-rules.ts';

/** One rule for each keyword that a CRD's schema may have. */
function ruleOf(keyword: string): KeywordRule | undefined {
  switch (keyword) {
    case 'description':
    case 'title':
    case 'example':
    case 'externalDocs':
      return isText;
    case 'type':
      return checkType;
    case 'format':
      return checkFormat;
    case 'pattern':
      return checkPattern;
    case 'nullable':
      return checkNullable;
    case 'enum':
      return checkEnum;
    case 'required':
      return checkRequired;
    case 'default':
      return checkDefault;
    case 'minimum':
    case 'exclusiveMinimum':
      return checkMinimum;
    case 'maximum':
    case 'exclusiveMaximum':
      return checkMaximum;
    case 'multipleOf':
      return checkMultipleOf;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return checkMinCount;
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return checkMaxCount;
    case 'properties':
      return checkProperties;
    case 'items':
      return checkItems;
    case 'additionalProperties':
      return checkMapValues;
    case 'allOf':
      return checkAllOf;
    case 'anyOf':
      return checkAnyOf;
    case 'oneOf':
    case 'not':
      return checkSameLogic;
    case 'x-kubernetes-preserve-unknown-fields':
      return checkPreserved;
    case 'x-kubernetes-validations':
      return checkValidations;
    case 'uniqueItems':
    case 'x-kubernetes-embedded-resource':
    case 'x-kubernetes-int-or-string':
    case 'x-kubernetes-list-type':
    case 'x-kubernetes-list-map-keys':
    case 'x-kubernetes-map-type':
      return checkSame;
    default:
      return undefined;
  }
}

/** Keywords that hold together: one rule looks at both. */
const lookedAtWith: ReadonlyMap<string, string> = new Map([
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
]);

/**
 * What of a change of a schema node, and of all below it, may break what is stored: what was accepted must be accepted, kept and read
 * as before. A difference that no rule knows breaks.
 */
export function* compareNodes(pair: NodePair): Generator<BreakingChange> {
  const { place } = pair;
  const before = asMeant(pair.before, place);
  const after = asMeant(pair.after, place);
  const keywords = new Set(
    [...Object.keys(before), ...Object.keys(after)].map(
      (keyword) => lookedAtWith.get(keyword) ?? keyword,
    ),
  );
  for (const keyword of keywords) {
    const rule = ruleOf(keyword);
    if (rule !== undefined) yield* rule(keyword, { before, after, place, compare: compareNodes });
    else if (!deepEqual(before[keyword], after[keyword])) {
      const message = `${nameOf(place)} changes "${keyword}" from ${quoted(before[keyword])} to ${quoted(after[keyword])}: nobody knows what that does to stored values`;
      yield { path: `${place.path}/${keyword}`, message };
    }
  }
}

/** A node without what says nothing, and with what the server takes for granted. */
function asMeant(node: JsonObject, { role }: NodePlace): JsonObject {
  const said = Object.entries(node).filter(([keyword, value]) => !saysNothing(keyword, value));
  const type = role === 'structure' ? node.type : undefined;
  return {
    ...(type === 'array' && { 'x-kubernetes-list-type': 'atomic' }),
    ...(type === 'object' && { 'x-kubernetes-map-type': 'granular' }),
    ...Object.fromEntries(said),
  };
}

function saysNothing(keyword: string, value: Json | undefined): boolean {
  if (value === null) return true;
  // A default may be any of these.
  if (keyword === 'default') return false;
  if (value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return keyword === 'properties' && Object.keys(value as JsonObject).length === 0;
}
