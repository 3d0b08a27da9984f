import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { SeededRandom } from '../../support/model/seeded-random.ts';
import { type Mutation, type Path, pathsIn, valueAt, valueChange } from './mutate.ts';

/** Kinds whose spec other kinds have as a template. */
const templates = new Map([
  ['Pod', 'template'],
  ['Job', 'jobTemplate'],
]);
const uid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const quantity = /^(\d+)((?:[KMGT]i?|m)?)$/;

/** What objects have in which place, to change an object into another that a server may accept. */
export class KnownValues {
  readonly #values = new Map<string, Map<string, Json>>();

  constructor(objects: readonly JsonObject[]) {
    for (const object of objects)
      for (const path of pathsIn(object, []))
        this.#add(placeOf(object, path), valueAt(object, path));
  }

  /** One value is removed, becomes one that another object has there, or a similar one. */
  changeIn(object: JsonObject, random: SeededRandom): Mutation {
    const path = random.pick([...pathsIn(object, [])]) ?? [];
    const value = valueAt(object, path);
    const others = this.#at(placeOf(object, path)).filter((other) => !isSame(other, value));
    const [other, similar] = [random.pick(others), random.pick(similarTo(value))];
    const changes = [
      valueChange(path, undefined),
      ...(other === undefined ? [] : [valueChange(path, other)]),
      ...(similar === undefined ? [] : [valueChange(path, similar)]),
      ...this.#additions(object, path, random),
    ];
    return random.pick(changes) ?? valueChange(path, undefined);
  }

  /** A field more, or an item more. */
  #additions(object: JsonObject, path: Path, random: SeededRandom): readonly Mutation[] {
    const [value, place] = [valueAt(object, path), placeOf(object, path)];
    if (Array.isArray(value)) {
      const item = random.pick(this.#at(`${place}[]`));
      return item === undefined ? [] : [valueChange(path, [...value, item])];
    }
    if (!isJsonObject(value)) return [];
    const owner = `${place.split('.').at(-1)}.`;
    const names = [...this.#values.keys()]
      .filter((known) => known.startsWith(owner) && !known.endsWith('[]'))
      .map((known) => known.slice(owner.length))
      .filter((name) => !Object.hasOwn(value, name));
    const name = random.pick(names) ?? '';
    const added = random.pick(this.#at(`${owner}${name}`));
    return added === undefined ? [] : [valueChange([...path, name], added)];
  }

  #add(place: string, value: Json): void {
    const known = this.#values.get(place) ?? new Map<string, Json>();
    this.#values.set(place, known.set(JSON.stringify(value), value));
  }

  #at(place: string): readonly Json[] {
    return [...(this.#values.get(place)?.values() ?? [])];
  }
}

/** `containers[].image`: the field, and what has it. */
function placeOf({ kind = '' }: JsonObject, path: Path): string {
  const names = [templates.get(String(kind)) ?? String(kind)];
  for (const step of path) {
    if (typeof step === 'string') names.push(step);
    else names.push(`${names.pop()}[]`);
  }
  return names.slice(-2).join('.');
}

function similarTo(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value.length > 1 ? [value.toReversed(), value.slice(1)] : [];
  if (typeof value === 'number') return [value + 1, value - 1, value * 2];
  if (typeof value === 'boolean') return [!value];
  // A uid of the sandbox is none of the server.
  if (typeof value !== 'string' || uid.test(value)) return [];
  const [, number, unit] = quantity.exec(value) ?? [];
  if (number === undefined) return [`${value}x`];
  return [`${Number(number) * 2}${unit}`, `${Number(number) / 2}${unit}`];
}

function isSame(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
