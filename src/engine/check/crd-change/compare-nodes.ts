import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
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
  type NodeChange,
  type NodePair,
  type NodePlace,
  nameOf,
  quoted,
} from './breaking-change.ts';
import { checkItems, checkMapValues, checkProperties } from './part-rules.ts';
import {
  checkDefault,
  checkEnum,
  checkFormat,
  checkNullable,
  checkPattern,
  checkPreserveUnknown,
  checkRequired,
  checkSame,
  checkType,
  checkValidations,
  ignoreKeyword,
} from './value-rules.ts';

/** The rule of a schema keyword. Undefined: unknown keyword. */
function ruleOf(keyword: string): KeywordRule | undefined {
  switch (keyword) {
    case 'description':
    case 'title':
    case 'example':
    case 'externalDocs':
      return ignoreKeyword;
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
      return checkPreserveUnknown;
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

/** Keywords that another keyword's rule compares. */
const comparedWith: ReadonlyMap<string, string> = new Map([
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
]);

/**
 * Lists the breaking changes of a schema node and its children. Values accepted before must be accepted, stored and read as before. Unknown
 * differences count as breaking.
 */
export function* compareNodes(pair: NodePair): Generator<BreakingChange> {
  const { place } = pair;
  const before = normalized(pair.before, place);
  const after = normalized(pair.after, place);
  const keywords = new Set(
    [...Object.keys(before), ...Object.keys(after)].map(
      (keyword) => comparedWith.get(keyword) ?? keyword,
    ),
  );
  for (const keyword of keywords) {
    const rule = ruleOf(keyword);
    if (rule !== undefined) yield* rule(keyword, { before, after, place, compare: compareNodes });
    else if (!deepEqual(before[keyword], after[keyword])) {
      const message = `${nameOf(place)} changes "${keyword}" from ${quoted(before[keyword])} to ${quoted(after[keyword])}: the effect on stored values is unknown`;
      yield { path: `${place.path}/${keyword}`, message };
    }
  }
}

/** Removes keywords without effect and adds implicit defaults. */
function normalized(node: JsonObject, { role }: NodePlace): JsonObject {
  const effective = Object.entries(node).filter(([keyword, value]) => !hasNoEffect(keyword, value));
  const type = role === 'structure' ? node.type : undefined;
  return {
    ...(type === 'array' && { 'x-kubernetes-list-type': 'atomic' }),
    ...(type === 'object' && { 'x-kubernetes-map-type': 'granular' }),
    ...Object.fromEntries(effective),
  };
}

function hasNoEffect(keyword: string, value: Json | undefined): boolean {
  if (value === null) return true;
  // A `default` may have any of these values.
  if (keyword === 'default') return false;
  if (value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return keyword === 'properties' && Object.keys(value as JsonObject).length === 0;
}

/** `allOf`: every new branch must be implied by an old one. */
const checkAllOf: KeywordRule = function* (keyword, change) {
  const { before, after, place } = change;
  const was = branchesOf(before[keyword]);
  for (const [index, branch] of branchesOf(after[keyword]).entries()) {
    const path = `${place.path}/${keyword}/${index}`;
    if (was.some((each) => isWider(change, branch, each))) continue;
    const message = `${nameOf(place)} gets a new condition in "${keyword}": stored values may violate it`;
    yield { path, message };
  }
};

/** `anyOf`: for every old branch, a new one must accept the same values. */
const checkAnyOf: KeywordRule = function* (keyword, change) {
  const { before, after, place } = change;
  const is = branchesOf(after[keyword]);
  if (is.length === 0) return;
  const path = `${place.path}/${keyword}`;
  const was = branchesOf(before[keyword]);
  if (was.length === 0) {
    yield {
      path,
      message: `${nameOf(place)} gets "${keyword}": stored values may match none of it`,
    };
    return;
  }
  for (const [index, branch] of was.entries()) {
    if (is.some((each) => isWider(change, each, branch))) continue;
    const message = `${nameOf(place)} no longer accepts what branch ${index + 1} of "${keyword}" accepted`;
    yield { path, message };
  }
};

/** Only equivalent branches or removal are safe: a wider branch may make two of `oneOf` match, a narrower one may make `not` reject. */
const checkSameLogic: KeywordRule = function* (keyword, change) {
  const { before, after, place } = change;
  const is = asBranches(after[keyword]);
  if (is.length === 0) return;
  const was = asBranches(before[keyword]);
  const isSame =
    was.length === is.length &&
    is.every((branch, index) => {
      const other = was[index] ?? {};
      return isWider(change, branch, other) && isWider(change, other, branch);
    });
  if (isSame) return;
  const verb = was.length === 0 ? 'gets' : 'changes';
  const message = `${nameOf(place)} ${verb} "${keyword}": stored values may not be accepted by it`;
  yield { path: `${place.path}/${keyword}`, message };
};

/** Whether `branch` accepts everything that `other` accepts. */
function isWider({ place, compare }: NodeChange, branch: JsonObject, other: JsonObject): boolean {
  const inside = { ...place, role: 'value', isResource: false } as const;
  const [first] = compare({ before: other, after: branch, place: inside });
  return first === undefined;
}

function asBranches(value: Json | undefined): readonly JsonObject[] {
  return isJsonObject(value) ? [value] : branchesOf(value);
}

function branchesOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
