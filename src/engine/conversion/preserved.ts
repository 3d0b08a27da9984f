import { canonicalJson } from '#util/canonical-json.ts';
import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { excessOf } from '#util/json-scan.ts';
import { sha256Hex } from '#util/sha256.ts';
import { preservedAnnotation, preservedPrefix } from '#util/stored-names.ts';
import { type Loss, type LossStep, mostSteps, textOfValue } from './loss.ts';
import { mostLevels } from './nesting.ts';

/** All annotations of preserved values together, keys included, in bytes. */
export const largestPreserved = 64 * 1024;
/** So many never fit: a key has 40 bytes, and the shortest value as many. More are not looked for. */
export const tooManyLosses = 1_000;
/** The API server accepts no more of an object, keys included, in bytes. */
const largestAnnotations = 256 * 1024;
/** The value of {@link preservedAnnotation}. */
const incomplete = 'incomplete';
/** Values that are nested deeper are not preserved: any client can write annotations, and recursive functions would overflow the stack. */
const limits = {
  fromLength: 2 * mostLevels,
  maxCost: Number.POSITIVE_INFINITY,
  maxDepth: mostLevels,
};

/** What metadata says about preserved values. */
export interface Preserved {
  /** By the version whose values they are. */
  readonly losses: ReadonlyMap<string, readonly Loss[]>;
  /** Something was lost that did not fit into annotations: the object must not be stored. */
  readonly isIncomplete: boolean;
}

/**
 * Reads preserved values. An annotation that this version cannot read is left out, and one with a key that is not of its value: so there is one for
 * each place at most, whatever a client has written.
 */
export function readPreserved(metadata: unknown): Preserved {
  const losses = new Map<string, Loss[]>();
  const annotations = mapAt(metadata, 'annotations');
  for (const [key, text] of Object.entries(annotations)) {
    if (!key.startsWith(preservedPrefix) || typeof text !== 'string') continue;
    const found = parseLoss(text);
    if (found === undefined || keyOf(found.version, found.loss) !== key) continue;
    const list = losses.get(found.version) ?? [];
    list.push(found.loss);
    losses.set(found.version, list);
  }
  for (const list of losses.values()) list.sort((a, b) => a.path.length - b.path.length);
  const isIncomplete =
    annotations[preservedAnnotation] !== undefined ||
    mapAt(metadata, 'labels')[preservedAnnotation] !== undefined;
  return { losses, isIncomplete };
}

/** The version whose value an annotation preserves. Undefined: this version cannot read it. Pure; never throws. */
export function preservedVersionOf(text: string): string | undefined {
  return parseLoss(text)?.version;
}

/** Metadata with preserved values; the same metadata if they are in it already. `isComplete` is false if they do not fit: none is in it. */
export function writePreserved(
  metadata: JsonObject,
  preserved: Preserved,
): { readonly metadata: JsonObject; readonly isComplete: boolean } {
  const others = othersOf(mapAt(metadata, 'annotations'));
  const room = Math.min(largestPreserved, largestAnnotations - sizeOf(others));
  const written = preserved.isIncomplete ? undefined : textsOf(preserved, room);
  if (written !== undefined) {
    const all = Object.keys(written).length === 0 ? others : { ...others, ...written };
    return { metadata: withMaps(metadata, all, false), isComplete: true };
  }
  const mark = { [preservedAnnotation]: incomplete };
  const fits = sizeOf(mark) <= largestAnnotations - sizeOf(others);
  return {
    metadata: withMaps(metadata, fits ? { ...others, ...mark } : others, !fits),
    isComplete: false,
  };
}

type Texts = Readonly<Record<string, unknown>>;

const none: Texts = {};

/** The annotations. Undefined: a value is nested too deep for one, or they are larger than the room. */
function textsOf({ losses }: Preserved, room: number): Texts | undefined {
  const texts: Record<string, string> = {};
  let left = room;
  for (const [version, list] of losses)
    for (const loss of list) {
      const { path, existing, ...rest } = loss;
      const text = textOfValue({ version, at: path, in: existing, ...rest });
      if (text === undefined || excessOf(text, limits) !== undefined) return undefined;
      const key = keyOf(version, loss);
      left -= byteLength(key) + byteLength(text);
      if (left < 0) return undefined;
      texts[key] = text;
    }
  return texts;
}

function keyOf(version: string, { path, order }: Loss): string {
  const place = order === undefined ? [version, path] : [version, path, 'order'];
  return preservedPrefix + sha256Hex(canonicalJson(place)).slice(0, 16);
}

function othersOf(annotations: Texts): Texts {
  const names = Object.keys(annotations);
  if (!names.some(isOurs)) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !isOurs(name)));
}

function isOurs(name: string): boolean {
  return name === preservedAnnotation || name.startsWith(preservedPrefix);
}

/** The label is for an object whose annotations leave no space for one more: labels have no common limit. */
function withMaps(metadata: JsonObject, annotations: Texts, isLabelled: boolean): JsonObject {
  const labels = mapAt(metadata, 'labels');
  const isSame = annotations === mapAt(metadata, 'annotations');
  if (isSame && !isLabelled && labels[preservedAnnotation] === undefined) return metadata;
  const result = { ...metadata } as Record<string, unknown>;
  if (Object.keys(annotations).length > 0) result.annotations = annotations;
  else if (Object.keys(mapAt(metadata, 'annotations')).length > 0) delete result.annotations;
  const { [preservedAnnotation]: old, ...others } = labels;
  if (isLabelled) result.labels = { ...others, [preservedAnnotation]: incomplete };
  else if (old !== undefined) result.labels = others;
  return result as JsonObject;
}

function parseLoss(text: string): { readonly version: string; readonly loss: Loss } | undefined {
  const json = excessOf(text, limits) === undefined ? parsed(text) : undefined;
  if (!isJsonObject(json)) return undefined;
  const { version, at, in: existing, value, was, order } = json;
  if (typeof version !== 'string' || !Array.isArray(at) || !at.every(isStep)) return undefined;
  if (at.length > mostSteps) return undefined;
  if (typeof existing !== 'number' || (was !== undefined && typeof was !== 'string'))
    return undefined;
  if (order !== undefined && !Array.isArray(order)) return undefined;
  const loss: Loss = {
    path: at,
    existing,
    ...(value !== undefined && { value }),
    ...(was !== undefined && { was }),
    ...(order !== undefined && { order }),
  };
  return { version, loss };
}

function isStep(step: unknown): step is LossStep {
  return (
    typeof step === 'string' || isJsonObject(step) || (Array.isArray(step) && step.length === 1)
  );
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function mapAt(metadata: unknown, field: 'annotations' | 'labels'): Texts {
  const map = isJsonObject(metadata) ? metadata[field] : undefined;
  return isJsonObject(map) ? map : none;
}

/** The size in bytes as the API server counts it. */
function sizeOf(texts: Texts): number {
  let size = 0;
  for (const [key, value] of Object.entries(texts))
    size += byteLength(key) + byteLength(String(value));
  return size;
}

function byteLength(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    // A surrogate is half of a character of four bytes.
    if (code > 0x7ff && (code < 0xd800 || code > 0xdfff)) bytes += 2;
    else if (code > 0x7f) bytes += 1;
  }
  return bytes;
}
