import type { Position, SourceMap } from '#definition';
import { type Expression, findBranches } from './language/index.ts';
import type { RenderFailure } from './operator-plan.ts';
import type { Slot } from './template/template.ts';

/** What a test can reach: an expression, a branch of it, or a result that matters. */
export type CoverageKind =
  | 'expression'
  /** `b` and `c` of `a ? b : c`. */
  | 'if'
  | 'else'
  /** `a ?? b`, without and with the default. */
  | 'value'
  | 'default'
  /** Results of `when` and of a condition. */
  | 'true'
  | 'false'
  /** Results of `forEach`. */
  | 'empty'
  | 'not-empty';

/** A place in a definition that tests can reach. */
export interface CoveragePoint {
  readonly definition: string;
  readonly kind: CoverageKind;
  /** Equal for the same point of the same text, wherever the definition was read from. */
  readonly key: string;
  /** The key of the expression that it is part of. */
  readonly expressionKey: string;
  /** In the text that was compiled. */
  readonly file: string;
  readonly position: Position;
}

/** Records which expressions of definitions are evaluated, and with which results. */
export interface CoverageRecorder {
  /** A point exists. Called once for each compilation. */
  declare(point: CoveragePoint): void;
  /** An evaluation reached a point. */
  reach(point: CoveragePoint): void;
  /** A value could not be rendered. `path`: JSON pointer in the document. @default failures are not recorded */
  fail?(failure: RenderFailure, path: string): void;
}

/** Returns a leaf whose expressions report what each evaluation reaches. Results are the same. */
export type LeafRecorder = (
  slot: Pick<Slot, 'leaf' | 'text' | 'role'>,
  pointer: string,
) => Slot['leaf'];

interface LeafRecorderOptions {
  readonly definition: string;
  readonly source: SourceMap;
  readonly coverage: CoverageRecorder;
}

export function createLeafRecorder({
  definition,
  source,
  coverage,
}: LeafRecorderOptions): LeafRecorder {
  return ({ leaf, text, role }, pointer) => {
    const isKey = role === 'key';
    const keyOf = (kind: CoverageKind, offset: number) =>
      [definition, pointer, isKey, text, offset, kind].join('\0');
    const site: LeafSite = {
      pointer,
      pointAt: (kind, offset, expression) => ({
        definition,
        kind,
        key: keyOf(kind, offset),
        expressionKey: keyOf('expression', expression.offset),
        file: source.file,
        position: isKey ? source.keyAt(pointer) : source.insideAt(pointer, offset),
      }),
    };
    const record = (expression: Expression) => recordedExpression(expression, site, coverage);
    if (leaf.kind !== 'text') return { ...leaf, expression: record(leaf.expression) };
    const parts = leaf.parts.map((part) => (typeof part === 'string' ? part : record(part)));
    return { ...leaf, parts };
  };
}

/** A leaf in the definition. */
interface LeafSite {
  readonly pointer: string;
  readonly pointAt: (kind: CoverageKind, offset: number, expression: Expression) => CoveragePoint;
}

function recordedExpression(
  expression: Expression,
  site: LeafSite,
  recorder: CoverageRecorder,
): Expression {
  const declare = (kind: CoverageKind, offset: number) => {
    const point = site.pointAt(kind, offset, expression);
    recorder.declare(point);
    return point;
  };
  const { offset } = expression;
  const whole = declare('expression', offset);
  const results = resultsAt(site.pointer).map((kind) => declare(kind, offset));
  const { all, taken } = findBranches(expression);
  const branches = new Map(all.map((branch) => [branch, declare(branch.kind, branch.offset)]));
  return {
    ...expression,
    async evaluate(scope) {
      recorder.reach(whole);
      const value = await expression.evaluate(scope);
      for (const point of results) if (isResult(value, point.kind)) recorder.reach(point);
      if (all.length === 0) return value;
      // A second evaluation, which must not use up the budget of the reconcile.
      const { budget: _, ...free } = scope;
      for (const branch of await taken(free)) {
        const point = branches.get(branch);
        if (point !== undefined) recorder.reach(point);
      }
      return value;
    },
  };
}

/** The results that tests should reach of the field at this pointer. */
function resultsAt(pointer: string): readonly CoverageKind[] {
  if (/^\/spec\/(?:(?:onDelete\/)?children|install|patches)\/[^/]+\/forEach$/.test(pointer))
    return ['empty', 'not-empty'];
  const isDecision =
    /^\/spec\/(?:onDelete\/)?(?:children|install|patches|events)\/[^/]+\/when$/.test(pointer) ||
    /^\/spec\/conditions\/[^/]+\/status$/.test(pointer);
  return isDecision ? ['true', 'false'] : [];
}

function isResult(value: unknown, kind: CoverageKind): boolean {
  switch (kind) {
    case 'true':
      return value === true || value === 'True';
    case 'false':
      return value === false || value === 'False';
    case 'empty':
      return value === undefined || (Array.isArray(value) && value.length === 0);
    default:
      return value !== undefined && !(Array.isArray(value) && value.length === 0);
  }
}
