import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import type { LocatedDefinition } from '#definition';
import { KubeError } from '#kube';
import {
  type ChildExplanation,
  explainResource as explainNow,
  type PresentExpression,
  presentValueText,
  type ResourceExplanation,
} from '#plan';
import type { ChildDecision } from '#reconcile';
import { notServed, runResource } from '#render';
import { connectAsUser, UnknownReferenceError } from '#simulation';
import { silentLogger, silentMetrics } from '#telemetry';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { apiVersionOf, gvkKey, gvkOf } from '#util/gvk.ts';
import { conditionsOf, type KubeObject, keyOf } from '#util/kube-object.ts';
import { printableLine } from '#util/printable-text.ts';
import { createSystemRandom } from '#util/random.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { guardedNamespacesOf } from './cluster-flags.ts';
import { type SessionContext, withCluster } from './cluster-session.ts';
import type { ExplainFlags } from './explain.ts';
import { planMembers } from './plan-members.ts';
import { readFiles } from './read-files.ts';
import { targetsOf } from './targets.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Whether a file has objects and no definitions. */
export async function isResourceFile(path: string): Promise<boolean> {
  const texts = await loadManifests([path], { mayBeEmpty: true });
  return texts.every(({ text }) => !/^\s*["']?kind["']?:\s*["']?OperatorDefinition\b/m.test(text));
}

export interface ExplainResourceOptions {
  /** File or folder with definitions. */
  readonly path: string;
  /** A file, which runs on a simulated cluster, or `TYPE/NAME` of a cluster. */
  readonly resource: string;
  readonly isFile: boolean;
}

type Context = SessionContext & { readonly flags: ExplainFlags };

/**
 * Prints why the objects of a resource are as they are, and the values that the expressions of the definition read.
 * @returns the exit code: 1 when the definition has errors
 * @throws CliError when there is no such resource
 */
export async function explainResource(
  { path, resource, isFile }: ExplainResourceOptions,
  context: Context,
): Promise<number> {
  const { flags, output } = context;
  if (flags.output !== 'text' && flags.output !== 'json')
    throw new CliError(`Expected "-o text" or "-o json" for a resource, found "${flags.output}"`, {
      hint: `A diagram shows a definition: homeostat explain ${path} -o ${flags.output}`,
    });
  const texts = await loadManifests([path]);
  const schemas = bundledSchemas();
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas });
  printDiagnostics(diagnostics, texts, output);
  if (diagnostics.some(({ severity }) => severity === 'error')) return exitCode.failure;
  const definitions = accepted.map(({ located }) => located);
  const found = isFile
    ? await explainFile({ definitions, manifests: texts, file: resource }, context)
    : await explainLive(definitions, resource, context);
  const shown = { ...found, resource: openResource(found) };
  if (flags.output === 'json') output.print(JSON.stringify(shown, undefined, 2));
  else for (const line of resourceLines(found)) output.print(line);
  return exitCode.ok;
}

/** The resource without values of Secrets: those of a Secret, and a status that contains one. */
function openResource({ resource, isStatusOpen }: ResourceExplanation): KubeObject {
  const { status: _, ...rest } = withoutSecrets(resource) as KubeObject & { status?: unknown };
  return isStatusOpen ? withoutSecrets(resource) : rest;
}

interface FileOptions {
  readonly definitions: readonly LocatedDefinition[];
  readonly manifests: readonly DefinitionManifest[];
  readonly file: string;
}

/** On a simulated cluster, when the resource is ready or nothing happens any more. */
async function explainFile(
  { definitions, manifests, file }: FileOptions,
  { flags, output, signal }: Context,
): Promise<ResourceExplanation> {
  const [resource, ...others] = await readFiles([file], output);
  if (resource === undefined || others.length > 0)
    throw new CliError(`Expected one resource in "${file}", found ${others.length + 1}`, {
      hint: 'Other objects, such as those that the definition reads, are given by --with FILE',
    });
  const located = servedBy(definitions, resource);
  const given = flags.with === undefined ? [] : await readFiles(flags.with, output);
  const { simulate: simulatesControllers = true } = flags;
  const options = { definitions, manifests, resource, given, simulatesControllers };
  try {
    return await runResource(options, located.definition, async ({ simulation, found, member }) => {
      const { cluster, members, close } = await connectAsUser(simulation, member);
      const { clock } = simulation;
      const key = keyOfObject((found ?? resource) as KubeObject);
      const explained = explainNow(located, key, { cluster, members, ...parts(clock) }, signal);
      const explanation = await simulation.drive(explained).finally(close);
      return explanationOf(explanation, located, file);
    });
  } catch (error) {
    if (!(error instanceof KubeError || error instanceof UnknownReferenceError)) throw error;
    throw new CliError(error.message, { cause: error });
  }
}

function explainLive(
  definitions: readonly LocatedDefinition[],
  reference: string,
  context: Context,
): Promise<ResourceExplanation> {
  let found: ResourceExplanation | undefined;
  const result = withCluster(context, async (session) => {
    const { cluster, kinds, namespace, signal } = session;
    const [target] = targetsOf(kinds, reference, []);
    if (target === undefined) throw new Error('Expected a target');
    const { kind, names } = target;
    const name = names[0] ?? '';
    const apiVersion = apiVersionOf(kind.gvk);
    const resource = { apiVersion, kind: kind.gvk.kind, metadata: { name } };
    const located = servedBy(definitions, resource);
    const key = keyOf(kind.namespaced ? namespace : undefined, name);
    const members = await planMembers([located], session);
    const { runtimeNamespace } = context.flags;
    const options = {
      cluster,
      ...(members && { members }),
      runtimeNamespace,
      guardedNamespaces: guardedNamespacesOf(runtimeNamespace),
      ...parts(createSystemClock()),
    };
    found = explanationOf(await explainNow(located, key, options, signal), located, reference);
    return exitCode.ok;
  });
  return result.then(() => {
    if (found === undefined) throw new Error('Expected an explanation');
    return found;
  });
}

function parts(clock: Clock) {
  return { clock, random: createSystemRandom(), metrics: silentMetrics, logger: silentLogger };
}

function keyOfObject({ metadata }: KubeObject): string {
  return keyOf(metadata.namespace, metadata.name);
}

/** @throws CliError if no definition serves the kind */
function servedBy(
  definitions: readonly LocatedDefinition[],
  resource: KubeObject,
): LocatedDefinition {
  const wanted = gvkOf(resource.apiVersion, resource.kind);
  const found = definitions.find(({ definition: { kind: served } }) =>
    [gvkKey(served.gvk)].includes(gvkKey(wanted)),
  );
  if (found !== undefined) return found;
  throw new CliError(
    notServed(
      definitions.map(({ definition }) => definition),
      resource,
    ),
  );
}

/** @throws CliError if there is none */
function explanationOf(
  found: Awaited<ReturnType<typeof explainNow>>,
  { definition: { name, kind } }: LocatedDefinition,
  resource: string,
): ResourceExplanation {
  if (found === undefined)
    throw new CliError(`Definition "${name}" serves no ${kind.gvk.kind} "${resource}"`, {
      hint: 'It does not exist, or the selectors of "for" do not match it',
    });
  if ('problem' in found) throw new CliError(`Definition "${name}": ${found.problem}`);
  return found;
}

/** For people: the condition `Ready`, then each child with the expressions that it consists of. Pure. */
export function resourceLines(explanation: ResourceExplanation): readonly string[] {
  const { resource, definition, isReconciled, children, others } = explanation;
  const { apiVersion, kind, metadata } = resource;
  const place = metadata.namespace === undefined ? '' : `${metadata.namespace}/`;
  return [
    `${kind} ${place}${metadata.name} (${apiVersion}), definition "${definition}"`,
    ...readyLines(explanation),
    ...(isReconciled
      ? []
      : [
          'The resource is not reconciled: it is paused or being deleted. Its children stay as they are',
        ]),
    ...children.flatMap((child) => ['', ...childLines(child, isReconciled)]),
    ...others.flatMap((decision) => [
      '',
      `  ${decision.kind} "${decision.name}"${placeText(decision)}: ${stateText(decision)}`,
    ]),
  ];
}

function readyLines({ resource, isStatusOpen }: ResourceExplanation): readonly string[] {
  const ready = conditionsOf(resource).find(({ type }) => type === 'Ready');
  if (ready === undefined) return ['It has no condition "Ready" yet'];
  const { status, reason, message } = ready;
  const text = isStatusOpen && message !== undefined && message !== '' ? `: ${message}` : '';
  return [printableLine(`Ready is "${status}", reason ${reason}${text}`)];
}

function childLines(
  { id, tier, kind, isNameOpen, decisions, expressions }: ChildExplanation,
  isReconciled: boolean,
): readonly string[] {
  const titles = decisions.map((decision) => {
    const name = decision.name === '' || !isNameOpen ? '' : ` "${decision.name}"`;
    return `  ${tier}. ${id}: ${kind}${name}${placeText(decision)}: ${stateText(decision)}`;
  });
  if (titles.length === 0)
    titles.push(`  ${tier}. ${id}: ${kind}${isReconciled ? ': "forEach" is an empty list' : ''}`);
  const isOmitted =
    decisions.length > 0 && decisions.every(({ verdict }) => verdict.kind === 'omitted');
  const shown = isOmitted ? expressions.filter(({ field }) => field === 'when') : expressions;
  return [...titles, ...shown.flatMap(expressionLines)];
}

function expressionLines({ field, text, line, reads }: PresentExpression): readonly string[] {
  const title = `       ${field === '' ? 'manifest' : field} (line ${line}): ${oneLine(text, 60)}`;
  return [
    title,
    ...reads.map(
      ({ reference, value }) => `           ${reference} ${presentValueText(value, shortJson)}`,
    ),
  ];
}

function placeText({ cluster }: ChildDecision): string {
  return cluster === undefined ? '' : ` in cluster "${cluster}"`;
}

function stateText({ verdict, state, message }: ChildDecision): string {
  const because = message === '' ? '' : `: ${printableLine(message)}`;
  switch (verdict.kind) {
    case 'unchanged':
      return state === 'Ready' ? 'ready' : `${state.toLowerCase()}${because}`;
    case 'created':
      return 'does not exist; the next reconcile creates it';
    case 'applied':
      return `differs in ${verdict.fields.join(', ')}; the next reconcile applies it`;
    case 'waiting':
      return `waits for ${verdict.on.join(', ')}${because}`;
    case 'omitted':
      return 'not created, because "when" is false';
    case 'conflict':
      return printableLine(message === '' ? `belongs to ${verdict.owner}` : message);
    case 'pruned':
      return `deleted, because it is no longer desired${because}`;
    case 'released':
      return `kept without an owner, because it is no longer desired${because}`;
    case 'held':
      return `its deletion is on hold${because}`;
    default:
      return `failed${because}`;
  }
}

function shortJson(value: unknown): string {
  return oneLine(JSON.stringify(value), 100);
}

function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > limit ? `${line.slice(0, limit - 3)}...` : line;
}
