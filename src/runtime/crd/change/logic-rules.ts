/** `allOf`, `anyOf`, `oneOf`, `not`: what is accepted, without a say in what is kept. */
import { isJsonObject, type Json, type JsonObject } from '../../../util/json.ts';
import { type KeywordRule, type NodeChange, nameOf } from './breaking-change.ts';

/** Every branch there is must follow from one that was there. */
export const checkAllOf: KeywordRule = function* (keyword, change) {
  const { before, after, place } = change;
  const was = branchesOf(before[keyword]);
  for (const [index, branch] of branchesOf(after[keyword]).entries()) {
    const path = `${place.path}/${keyword}/${index}`;
    if (was.some((each) => isWider(change, branch, each))) continue;
    const message = `${nameOf(place)} gets a condition in "${keyword}" that was not there: stored values may break it`;
    yield { path, message };
  }
};

/** Whatever a branch has accepted, one that is there must accept. */
export const checkAnyOf: KeywordRule = function* (keyword, change) {
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
    const message = `${nameOf(place)} accepts no more what branch ${index + 1} of "${keyword}" has accepted`;
    yield { path, message };
  }
};

/** A wider branch may make two of `oneOf` match, a narrower one may make `not` refuse: only the same, or nothing, is safe. */
export const checkSameLogic: KeywordRule = function* (keyword, change) {
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

/** Is everything accepted by the branch that the other one accepts? */
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
