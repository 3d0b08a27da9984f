/**
 * The fields that must be written literally, by kind and below `spec`: code, paths, and what decides about them. A computed part of them
 * could be code, or lead to another object, of the author of a resource. `*` is any key.
 */
const literalFields: Readonly<Record<string, readonly (readonly string[])[]>> = {
  HttpObject: [
    ['observe', 'path'],
    ['observe', 'result'],
    ['find', 'path'],
    ['find', 'results'],
    ['create', 'path'],
    ['update', 'path'],
    ['delete', 'path'],
    ['slashesIn', '*'],
    ['id'],
    ['ready'],
    ['values', '*'],
    ['secret', 'data', '*'],
    ['absent'],
    ['error'],
  ],
  HttpEndpoint: [
    ['check', 'path'],
    ['auth', 'login', 'path'],
    ['auth', 'login', 'token'],
    ['auth', 'login', 'lifetimeSeconds'],
  ],
};

/** Whether the value at these steps below `spec` must be literal. Pure. */
export function isLiteralField(kind: string, steps: readonly string[]): boolean {
  return fieldsOf(kind).some((field) => field.length === steps.length && begins(field, steps));
}

/** Whether a map at these steps below `spec` has such a field, so that it must be literal, too. Pure. */
export function holdsLiteralField(kind: string, steps: readonly string[]): boolean {
  return fieldsOf(kind).some((field) => field.length > steps.length && begins(field, steps));
}

/** Whether the keys of a map at these steps may be computed: each of its values is checked. Pure. */
export function mayHaveComputedKeys(kind: string, steps: readonly string[]): boolean {
  return !holdsLiteralField(kind, steps) || isLiteralField(kind, [...steps, '*']);
}

/** Whether a literal field is a path. Pure. */
export function isPathField(steps: readonly string[]): boolean {
  return steps.at(-1) === 'path';
}

/** Whether the value at these steps below `spec` is code: `$( … )`. Pure. */
export function isCodeField(kind: string, steps: readonly string[]): boolean {
  return isLiteralField(kind, steps) && !isPathField(steps) && steps[0] !== 'slashesIn';
}

function fieldsOf(kind: string): readonly (readonly string[])[] {
  return literalFields[kind] ?? [];
}

function begins(field: readonly string[], steps: readonly string[]): boolean {
  return steps.every((step, index) => field[index] === '*' || field[index] === step);
}
