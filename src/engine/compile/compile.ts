import type { AcceptedWarning, Diagnostic, LocatedDefinition } from '#definition';
import { checkAdmissionRules } from './admission/check-admission.ts';
import { checkAdmissionDefaults } from './admission/check-defaults.ts';
import { offlineAdmissionPlan } from './admission/compile-admission.ts';
import type { CoverageRecorder } from './coverage.ts';
import { analyse, createPlan } from './create-plan.ts';
import { createDiagnostics } from './diagnostics.ts';
import { analyseInstall, createInstallPlan } from './install/compile-install.ts';
import type { LeafParser } from './language/index.ts';
import type { OperatorPlan } from './operator-plan.ts';
import { createDefaultLeafParser } from './plain-expressions.ts';
import type { SchemaSource } from './schema-source.ts';

export interface CompileResult {
  /** Undefined when there are errors. */
  readonly plan?: OperatorPlan;
  /** All diagnostics by position, without warnings that the definition accepts, at most 100. */
  readonly diagnostics: readonly Diagnostic[];
  /** The warnings that the definition accepts, with those that are used. */
  readonly accepted: readonly AcceptedWarning[];
}

/**
 * Compiles a definition to a plan, or reports all errors. Pure: equal input gives an equal plan, and no state is kept
 * between calls. Does not throw for user errors.
 * @param schemas of children and reads. Unknown kinds are not checked; without `schemas` all kinds are unknown.
 * @param coverage records what evaluations of the plan reach, which makes them slower.
 * @param parser parses expressions that several definitions have once. @default a parser for this definition
 */
export function compile(
  located: LocatedDefinition,
  schemas?: SchemaSource,
  coverage?: CoverageRecorder,
  parser: LeafParser = createDefaultLeafParser(),
): CompileResult {
  const diagnostics = createDiagnostics(located.source);
  const options = { schemas, coverage, parser, diagnostics };
  const analysis = analyse(located, options);
  const install = located.definition.install && analyseInstall(located, options);
  checkAdmissionRules(located, analysis.types.resource, diagnostics);
  checkAdmissionDefaults(located, analysis.types.resource, diagnostics);
  const { diagnostics: found, accepted } = diagnostics.finish(located.acceptedWarnings ?? []);
  if (found.some(({ severity }) => severity === 'error')) return { diagnostics: found, accepted };
  const plan = createPlan(analysis, {
    install: install && createInstallPlan(install),
    admission: offlineAdmissionPlan(located, schemas),
  });
  return { plan, diagnostics: found, accepted };
}
