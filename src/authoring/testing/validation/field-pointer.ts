import { fieldOf } from '#definition';
import { isJsonObject, type Json, type JsonObject, pointerSteps, pointerTo } from '#util/json.ts';

/**
 * The JSON pointer of a field as an API server writes it: `spec.links[0].url`, `metadata.labels[a.b/c]`, `data.a.b`. Names with dots are
 * found in the object.
 */
export function fieldPointer(object: JsonObject, field: string): string {
  let pointer = '';
  let value: unknown = object;
  let rest = field;
  while (rest !== '') {
    const step = nextStep(value, rest);
    pointer = pointerTo(pointer, step.name);
    value = fieldOf(value, step.name);
    rest = step.rest;
  }
  return pointer;
}

function nextStep(value: unknown, text: string): { readonly name: string; readonly rest: string } {
  const bracket = /^\[([^\]]*)\]/.exec(text);
  if (bracket !== null) return { name: bracket[1] ?? '', rest: text.slice(bracket[0].length) };
  const path = text.replace(/^\./, '');
  const names = isJsonObject(value) ? Object.keys(value) : [];
  const name =
    names
      .filter(
        (key) => key !== '' && path.startsWith(key) && /^(?:$|[.[])/.test(path.slice(key.length)),
      )
      .toSorted((a, b) => b.length - a.length)[0] ??
    /^[^.[]*/.exec(path)?.[0] ??
    path;
  // A text that begins with a bracket that never ends is one name.
  const length = Math.max(1, name.length);
  return { name: path.slice(0, length), rest: path.slice(length) };
}

/** The object without a value; an item of a list becomes null, so that the others keep their position. */
export function withoutValue(object: JsonObject, pointer: string): JsonObject {
  return without(object, pointerSteps(pointer)) as JsonObject;
}

function without(value: Json | undefined, [step, ...rest]: readonly string[]): Json | undefined {
  if (step === undefined) return undefined;
  if (Array.isArray(value))
    return value.map((item: Json, index) =>
      String(index) === step ? (without(item, rest) ?? null) : item,
    );
  if (!isJsonObject(value) || !Object.hasOwn(value, step)) return value;
  const { [step]: field, ...others } = value;
  return rest.length === 0 ? others : { ...others, [step]: without(field, rest) };
}
