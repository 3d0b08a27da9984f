import type { SourceMap } from '#definition';
import { HomeostatError } from '#util/homeostat-error.ts';
import { ExpressionError } from '../language/index.ts';
import type { RenderFailure } from '../operator-plan.ts';
import { CoercionError } from './coerce.ts';

/** The source position of a rendered value. */
export interface Place {
  /** Field within the manifest, or `when`, `vars.labels`, `status.nodes`. */
  readonly field: string;
  /** Undefined: the definition comes from an object, which has no lines. */
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
  /** JSON pointer in the document. */
  readonly path: string;
}

/**
 * The file in messages, without its folder: a message stays the same when a process reads the file from another folder.
 * Undefined: the definition comes from an object.
 */
export function fileOf({ file, isGenerated = false }: SourceMap): string | undefined {
  return isGenerated ? undefined : file.slice(file.lastIndexOf('/') + 1);
}

/** `file:line:column`. Undefined: there is no file. */
export function placeText({
  file,
  line,
  column,
}: Omit<Place, 'field' | 'path'>): string | undefined {
  return file === undefined ? undefined : `${file}:${line}:${column}`;
}

/** A template that cannot be rendered. */
export class RenderError extends HomeostatError<RenderFailure['code']> {
  readonly failure: RenderFailure;
  /** JSON pointer in the document of the definition. */
  readonly path: string;
  /** The message has the reason of the missing value. */
  readonly isExplained: boolean;
  readonly #place: Place;

  constructor(code: RenderFailure['code'], message: string, place: Place, isExplained = false) {
    super(code, message);
    this.#place = place;
    const at = placeText(place);
    this.failure = { code, message, field: place.field, ...(at !== undefined && { place: at }) };
    this.path = place.path;
    this.isExplained = isExplained;
  }

  /** The same error with another message. */
  withMessage(message: string): RenderError {
    return new RenderError(this.code, message, this.#place, this.isExplained);
  }
}

/** A template needs a value that other objects do not have yet. `on`: the names of what it waits for. */
export class MissingInput extends HomeostatError<'waiting'> {
  readonly on: readonly string[];
  constructor(on: readonly string[]) {
    super('waiting', `Waiting for ${on.join(', ')}`);
    this.on = on;
  }
}

const codes = {
  'evaluation-failed': 'evaluation-failed',
  'missing-value': 'missing-value',
  'limit-exceeded': 'limit-reached',
  'too-large': 'too-large',
  'budget-exceeded': 'budget-exceeded',
} as const;

/** Converts errors of evaluation and coercion to a RenderError. Other errors are bugs and are rethrown. */
export function renderErrorOf(thrown: unknown, place: Place): RenderError {
  if (thrown instanceof RenderError) return thrown;
  if (thrown instanceof CoercionError) {
    const { message, hint } = thrown;
    const code = thrown.code === 'wrong-type' ? thrown.code : 'invalid-manifest';
    return new RenderError(code, hint === undefined ? message : `${message}. ${hint}`, place);
  }
  if (!(thrown instanceof ExpressionError)) throw thrown;
  return new RenderError(codes[thrown.code], thrown.message, place);
}
