import { bundledSchemas } from '../../compile/index.ts';
import { checkDefinitions, type DefinitionPlan, planDefinition } from '../../runtime/index.ts';
import { silentLogger } from '../../simulation/index.ts';
import { createMetricRegistry } from '../../telemetry/index.ts';
import { createSystemClock } from '../../util/clock.ts';
import { createSystemRandom } from '../../util/random.ts';
import { exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { markdownOf, planLines, summaryOf } from './print-plan.ts';

export interface PlanFlags {
  readonly output: 'text' | 'json' | 'markdown';
}

/** Exit code: the plan has changes. */
const hasChanges = 2;

/**
 * `homeostat plan PATH...`: prints what definitions would change in a cluster. Writes nothing.
 * @returns the exit code: 0 without changes, 2 with changes, 1 when a definition has errors or the cluster would reject it.
 * @throws CliError for files that cannot be read and requests that fail.
 */
export async function plan(
  context: SessionContext,
  paths: readonly string[],
  { output: format }: PlanFlags,
): Promise<number> {
  const { output } = context;
  const texts = await loadManifests(paths);
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas: bundledSchemas() });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  printDiagnostics(errors, texts, output);
  if (errors.length > 0) return exitCode.failure;
  return withCluster(context, async (session) => {
    const plans: DefinitionPlan[] = [];
    for (const { located } of accepted)
      plans.push(await planDefinition(located, optionsOf(session), session.signal));
    for (const { rejection } of plans)
      if (rejection !== undefined) printDiagnostics(rejection.diagnostics, texts, output);
    output.print(textOf(plans, format, output.hasColor));
    if (plans.some(({ rejection }) => rejection !== undefined)) return exitCode.failure;
    return summaryOf(plans).changes === 0 ? exitCode.ok : hasChanges;
  });
}

function optionsOf({ cluster, output }: ClusterSession) {
  const progress = (done: number, total: number) => {
    // A terminal shows the last line only.
    if (output.isTerminal && total > 50 && done % 50 === 0)
      output.error(`${done} of ${total} resources`);
  };
  return {
    cluster,
    clock: createSystemClock(),
    random: createSystemRandom(),
    logger: silentLogger,
    metrics: createMetricRegistry(),
    onProgress: progress,
  };
}

function textOf(
  plans: readonly DefinitionPlan[],
  format: PlanFlags['output'],
  hasColor: boolean,
): string {
  if (format === 'json') return JSON.stringify({ plans, summary: summaryOf(plans) }, undefined, 2);
  if (format === 'markdown') return markdownOf(plans);
  return planLines(plans, { hasColor }).join('\n');
}
