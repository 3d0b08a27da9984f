import { join, parse } from 'node:path';
import { kubeconfigText } from '#dev';
import { createKubeCluster, type KubeCluster, KubeError } from '#kube';
import { clusterGvk, ensureClusterKind } from '#runtime';
import { type Logger, silentMetrics } from '#telemetry';
import { createSystemClock } from '#util/clock.ts';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import { stoppedAnnotation } from '#util/stored-names.ts';
import { CliError } from '../exit-code.ts';
import { type SessionContext, withCluster } from './cluster-session.ts';
import { type KeptSandbox, startKeptSandbox } from './dev-cluster.ts';

/** A simulated member of `homeostat dev --clusters`. */
export interface DevMember extends KeptSandbox {
  readonly name: string;
  readonly url: string;
  /** File in which it is kept. @default undefined: it ends with the command */
  readonly persist?: string;
}

/** Labels that the examples in `operators/clusters` select. */
const exampleLabels = { gpu: 'true', agents: 'true', web: 'true' };
const fieldManager = 'homeostat-dev';
const flow = { name: 'dev', priority: 'object' } as const;
const signalOf = () => new AbortController().signal;

interface DevMembersOptions {
  /** The file of the hub; each member is kept in a file beside it. @default undefined: they end with the command */
  readonly persist?: string;
  readonly random: Random;
  readonly logger: Logger;
  /** A line for people. */
  readonly print: (text: string) => void;
}

/** Starts simulated members `dev-1`, `dev-2`, ... @throws CliError */
export async function startDevMembers(
  count: number,
  { persist: hubFile, random, logger, print }: DevMembersOptions,
): Promise<readonly DevMember[]> {
  const members: DevMember[] = [];
  try {
    for (let index = 1; index <= count; index++) {
      const name = `dev-${index}`;
      const persist = hubFile === undefined ? {} : { persist: memberFile(hubFile, name) };
      const kept = await startKeptSandbox({ random, logger, print, ...persist });
      members.push({ name, url: kept.sandbox.url, ...persist, ...kept });
    }
    return members;
  } catch (error) {
    await stopDevMembers(members);
    throw error;
  }
}

/** Stops all of them. @throws CliError if the last changes of one cannot be saved */
export async function stopDevMembers(members: readonly DevMember[]): Promise<void> {
  await Promise.all(members.map((member) => member.stop()));
}

/** `cluster.json` of the hub, `cluster.dev-1.json` of a member. */
function memberFile(hubFile: string, member: string): string {
  const { dir, name, ext } = parse(hubFile);
  return join(dir, `${name}.${member}${ext}`);
}

/** A client of a simulated member, to show and apply objects. The caller closes it. */
export function devMemberClient({ name, url }: DevMember, logger: Logger, random: Random) {
  const credentials = { load: async () => ({ headers: {} }) };
  return createKubeCluster({
    name,
    logger: logger.child({ cluster: name }),
    random,
    metrics: silentMetrics,
    clock: createSystemClock(),
    config: { server: url, namespace: 'default', credentials },
  });
}

/**
 * Installs the kind `Cluster`, creates a Secret in the namespace and a `Cluster` for each member, and stops and starts members as their
 * annotations say. A `Cluster` that was kept stays as it is. Returns the function that ends this.
 */
export async function joinDevMembers(
  hub: KubeCluster,
  members: readonly DevMember[],
  namespace: string,
): Promise<() => void> {
  if (members.length === 0) return () => {};
  await ensureClusterKind(hub, createSystemClock(), signalOf());
  const options = { fieldManager, force: true, flow };
  for (const [index, { name, url, sandbox }] of members.entries()) {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name },
      stringData: { kubeconfig: kubeconfigText(url) },
    };
    // Addresses differ in each run.
    await hub.apply(secret, options, signalOf());
    const kept = await hub.get({ gvk: clusterGvk, name }, { flow }, signalOf());
    if (kept !== undefined) {
      await sandbox.setReachable(!isStopped(kept.object));
      continue;
    }
    const cluster = {
      apiVersion: apiVersionOf(clusterGvk),
      kind: clusterGvk.kind,
      metadata: { name, labels: { tier: index === 0 ? 'test' : 'prod', ...exampleLabels } },
      spec: { kubeconfig: { secretRef: { namespace, name } } },
    };
    await hub.apply(cluster, options, signalOf());
  }
  return followStoppedMembers(hub, members);
}

function isStopped({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[stoppedAnnotation] === 'true';
}

function followStoppedMembers(hub: KubeCluster, members: readonly DevMember[]): () => void {
  const clusters = hub.acquire({ gvk: clusterGvk });
  const unsubscribe = clusters.subscribe(({ name, current }) => {
    const member = members.find((each) => each.name === name);
    void member?.sandbox.setReachable(current === undefined || !isStopped(current.object));
  });
  return () => {
    unsubscribe();
    clusters.release();
  };
}

/**
 * `homeostat dev cluster stop|start NAME`: makes a simulated member unreachable, or reachable again.
 * @throws CliError if there is no such member.
 */
export async function switchDevMember(
  name: string,
  action: 'stop' | 'start',
  context: SessionContext,
): Promise<void> {
  await withCluster(context, async ({ cluster, output, signal }) => {
    const ref = { gvk: clusterGvk, name };
    const live = await cluster.get(ref, { flow }, signal).catch((error: unknown) => {
      if (error instanceof KubeError && error.code === 'kind-missing') return undefined;
      throw error;
    });
    const { uid = '' } = live?.object.metadata ?? {};
    if (live === undefined)
      throw new CliError(`Expected a member cluster, found "${name}"`, {
        hint: 'Start members with "homeostat dev --clusters 3"; their names are dev-1, dev-2 and dev-3',
      });
    const value = action === 'stop' ? 'true' : null;
    const change = () => ({ annotations: { [stoppedAnnotation]: value } });
    await cluster.editMetadata(ref, { flow, uid, change }, signal);
    output.print(
      action === 'stop'
        ? `Cluster "${name}" does not respond any more; "homeostat dev cluster start ${name}" starts it again`
        : `Cluster "${name}" responds again`,
    );
  });
}
