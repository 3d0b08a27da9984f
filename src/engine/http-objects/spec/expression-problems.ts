import { type Json, pointerSteps } from '#util/json.ts';
import { isLiteralField } from '../kinds/literal-fields.ts';
import { type SpecProblem, suspicious } from './problem.ts';
import { textsIn } from './texts.ts';

/** What an expression of a definition reads, and code does not, or seldom. */
const path = /\$\(\s*((?:spec|metadata|children|reads|vars)\.[\w.]+)\s*\)/;

/** Texts of a definition that were meant as expressions: `$(spec.size)`. Pure. */
export function expressionProblems(kind: string, spec: Json | undefined): readonly SpecProblem[] {
  return [...textsIn(spec ?? {}, '/spec')].flatMap(([at, text]) => {
    const [, source] = path.exec(text) ?? [];
    if (source === undefined || isLiteralField(kind, pointerSteps(at).slice(1))) return [];
    return [
      suspicious(
        at,
        '"$( )" is data here: expressions of a definition are "${ }"',
        `Write "\${ ${source} }"`,
      ),
    ];
  });
}
