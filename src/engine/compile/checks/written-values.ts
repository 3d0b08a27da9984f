import type { Slot, TemplateNode } from '../template/template.ts';

/** A value of a template. */
export interface WrittenValue {
  readonly node: TemplateNode;
  /** Those of its template. */
  readonly slots: readonly Slot[];
}

/** A character, or an expression as it is written: equal ones have equal values in one reconcile. */
type Part = string;

/** Expressions are longer than characters, so the two are never equal. */
const isCharacter = (part: Part | undefined) => part !== undefined && [...part].length === 1;

/**
 * Whether two values differ whatever their expressions return, as `${ metadata.name }` and `${ metadata.name }-web` do. False: they may be
 * equal, or one is no text.
 */
export function neverEqual(one: WrittenValue, other: WrittenValue): boolean {
  if (one.node.kind === 'constant' && other.node.kind === 'constant')
    return one.node.value !== other.node.value;
  const [left, right] = [partsOf(one), partsOf(other)];
  if (left === undefined || right === undefined) return false;
  while (left.length > 0 && left[0] === right[0]) {
    left.shift();
    right.shift();
  }
  while (left.length > 0 && left.at(-1) === right.at(-1)) {
    left.pop();
    right.pop();
  }
  // An expression may return an empty text.
  if (left.length === 0 || right.length === 0) return [...left, ...right].some(isCharacter);
  if (isCharacter(left[0]) && isCharacter(right[0])) return true;
  return isCharacter(left.at(-1)) && isCharacter(right.at(-1));
}

function partsOf({ node, slots }: WrittenValue): Part[] | undefined {
  if (node.kind === 'constant') return typeof node.value === 'string' ? [...node.value] : undefined;
  const leaf = node.kind === 'slot' ? slots[node.slot]?.leaf : undefined;
  const written =
    leaf?.kind === 'text' ? leaf.parts : leaf?.kind === 'value' ? [leaf.expression] : undefined;
  if (written?.some((part) => typeof part === 'object' && part.source.includes('$random')))
    return undefined;
  return written?.flatMap((part) =>
    typeof part === 'string' ? [...part] : [`\${ ${part.source.trim()} }`],
  );
}
