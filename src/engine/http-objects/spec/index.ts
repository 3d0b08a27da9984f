/** What is known about the kinds without a cluster, apart from the controller: for checks of definitions and files. */
export { type HttpKindCheck, httpKindCheckOf } from './kind-check.ts';
export type { SpecProblem } from './problem.ts';
export { patchProblems, templateProblems } from './template-problems.ts';
