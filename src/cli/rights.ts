import { writeFile } from 'node:fs/promises';
import { checkDefinitions, definitionRights, rolesYaml, runtimeRights } from '#check';
import { bundledPlural, bundledSchemas, type OperatorPlan } from '#compile';
import { placesInMembers, runsInMembers } from '#definition';
import { fileReason } from '#files';
import { CliError, exitCode } from './exit-code.ts';
import { loadManifests } from './load-manifests.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';

export interface RightsOptions {
  /** Of the roles. */
  readonly name: string;
  /** `namespace/name`. */
  readonly serviceAccount: string;
  /** Print the rights in a member cluster, for its kubeconfig. @default false: those in the cluster of the runtime */
  readonly members?: boolean;
  /** File to write. @default undefined: standard output */
  readonly out?: string;
}

const serviceAccountRef = /^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\/([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)$/;

/**
 * `homeostat rights FILE...`: prints the roles that these definitions need, and their bindings, as YAML. The user who applies them has
 * to check is printed on standard error.
 * @returns the exit code: 1 when a definition has errors, or there is none; nothing is written then.
 * @throws CliError for an invalid service account, and for a file that cannot be written.
 */
export async function rights(
  paths: readonly string[],
  options: RightsOptions,
  output: Output,
): Promise<number> {
  const [, namespace, account] = serviceAccountRef.exec(options.serviceAccount) ?? [];
  if (namespace === undefined || account === undefined) {
    const message = `Expected "namespace/name" for --service-account, found "${options.serviceAccount}"`;
    throw new CliError(message);
  }
  const texts = await loadManifests(paths);
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas: bundledSchemas() });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  printDiagnostics(errors, texts, output);
  if (errors.length > 0 || accepted.length === 0) return exitCode.failure;
  const { members: inMembers = false } = options;
  const all = accepted.map(({ plan }) => plan);
  const isHub = !inMembers;
  const found = definitionRights(all, bundledPlural, { inMembers, isHub, namespace });
  const { warnings } = found;
  const notes = [...noteOfOthers(all, inMembers), ...found.notes];
  const rules = inMembers ? [...memberRules(all), ...found.rules] : found.rules;
  const yaml = rolesYaml({
    name: options.name,
    serviceAccount: { namespace, name: account },
    rules,
  });
  for (const warning of warnings) output.error(`warning: ${warning}`);
  for (const note of notes) output.error(`note: ${note}`);
  if (options.out === undefined) output.print(yaml.trimEnd());
  else await write(options.out, yaml);
  return exitCode.ok;
}

/** Of the runtime itself, in a member. */
function memberRules(plans: readonly OperatorPlan[]) {
  const { member, memberDefinitions } = runtimeRights({ leaseName: '' });
  const isNeeded = plans.some(({ definition }) => runsInMembers(definition));
  return isNeeded ? [...member, ...memberDefinitions] : member;
}

function noteOfOthers(plans: readonly OperatorPlan[], inMembers: boolean): readonly string[] {
  const running = plans.filter(({ definition }) => runsInMembers(definition));
  const placing = plans.filter(placesInMembers);
  if (inMembers)
    return running.length + placing.length > 0
      ? []
      : [
          'No definition runs in member clusters ("controller.clusters") or places objects there ("cluster")',
        ];
  return [
    ...running.map(
      ({ name }) => `"${name}" runs in member clusters; --members prints the rights there`,
    ),
    ...placing.map(
      ({ name }) =>
        `"${name}" places objects in member clusters; --members prints the rights there`,
    ),
  ];
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CliError(`Cannot write "${file}": ${fileReason(error)}`, { cause: error });
  }
}
