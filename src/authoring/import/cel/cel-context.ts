import type { SchemaType } from '#compile';
import { type Jsonata, level } from './jsonata.ts';
import { unknownType } from './value-type.ts';

/** An expression that has no equivalent. */
export class NoEquivalentError extends Error {
  /** Offset in the expression. */
  readonly offset: number;
  readonly hint: string | undefined;

  constructor(message: string, offset: number, hint?: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

export interface CelContext {
  readonly variables: ReadonlyMap<string, Jsonata>;
  /** Collects differences between the expression and its conversion. */
  readonly notes: Set<string>;
  /** Why a name that is no variable cannot be used; undefined: it does not exist. */
  readonly explainName?: (name: string) => string | undefined;
}

/** The context with more variables, such as those of a macro. */
export function withVariables(
  context: CelContext,
  more: readonly (readonly [name: string, value: Jsonata])[],
): CelContext {
  return { ...context, variables: new Map([...context.variables, ...more]) };
}

/** A path or a variable. */
export function atom(
  text: string,
  type: SchemaType = unknownType,
  presence: Jsonata['presence'] = 'maybe',
): Jsonata {
  return { text, level: level.path, type, presence };
}
