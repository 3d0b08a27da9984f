import { dirname, join, resolve } from 'node:path';
import { createManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import type { ReconcileRecords } from '#console';
import type { ConsoleServer } from '#console/node/index.ts';
import {
  createTextLogger,
  DevSession,
  type DevSessionOptions,
  loadSamples,
  type PrintedTree,
  Screen,
  type Terminal,
  treeChanges,
  treeLines,
} from '#dev';
import { httpLabel } from '#http-objects/kinds/index.ts';
import { createKubeCluster, type KubeCluster, loadKubeConfig } from '#kube';
import { createConfigMapSource, createDirectorySource, simulatedConversion } from '#runtime';
import { createMetricRegistry, type Logger, type LogLevel } from '#telemetry';
import { checkObjectsOf, withAdmissionChecks } from '#testing';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { createSystemRandom, type Random } from '#util/random.ts';
import {
  type ConversionFlags,
  checkConversionFlags,
  checkNoConversionFlags,
  loadConversion,
} from '../conversion-flags.ts';
import { exitCode } from '../exit-code.ts';
import { limitHeapGrowth } from '../heap-settings.ts';
import { httpRulesOf } from '../http-allow.ts';
import { createHttpController } from '../http-controller.ts';
import { namesHttpKind } from '../http-files.ts';
import { loadClusterConfig, parseKubeconfig } from '../kubeconfig-flags.ts';
import { loadManifests } from '../load-manifests.ts';
import { memberClients } from '../member-clients.ts';
import type { Output } from '../output.ts';
import { createCapacity } from '../runtime-factory.ts';
import { version } from '../version.ts';
import { defaultKubeconfig } from './default-kubeconfig.ts';
import { type DevCluster, startDevCluster } from './dev-cluster.ts';
import {
  type DevMember,
  devMemberClient,
  joinDevMembers,
  startDevMembers,
  stopDevMembers,
} from './dev-members.ts';

/** Where servers of this machine listen. */
const loopback = ['127.0.0.0/8', '[::1]'];
/** Namespace of the ConfigMaps with definitions, as in a cluster. */
const definitionsNamespace = 'homeostat-system';

export interface DevOptions extends ConversionFlags {
  /** A real cluster in place of the sandbox. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly writeKubeconfig: string;
  readonly persist?: string;
  readonly port: number;
  /** Number of simulated member clusters. @default 0 */
  readonly clusters: number;
  /** @default samples are applied in a new sandbox */
  readonly samples?: boolean;
  /** Globs of hosts, addresses and CIDRs, beside loopback, to which objects behind HTTP may send requests. @default none */
  readonly httpAllow?: readonly string[];
  /** Serves the kinds of objects behind HTTP. @default when a definition or a sample uses them */
  readonly httpObjects?: boolean;
  /** Serve the console? */
  readonly console: boolean;
  readonly logLevel: LogLevel;
}

/**
 * `homeostat dev [DIR]`: runs the definitions of a folder in a sandbox (or a real cluster), applies its samples, shows the objects, and
 * reloads saved files, until the signal aborts.
 * @returns the exit code
 * @throws CliError when it cannot start.
 */
export async function dev(
  folder: string,
  options: DevOptions,
  { hasColor }: Pick<Output, 'hasColor'>,
  signal: AbortSignal,
): Promise<number> {
  const usesCluster = options.kubeconfig !== undefined || options.context !== undefined;
  if (usesCluster) checkConversionFlags(options);
  else checkNoConversionFlags(options);
  const screen = new Screen(processTerminal(), overflowHint(options));
  const print = (text: string) => screen.print(text);
  const logger = createTextLogger({ level: options.logLevel, print });
  // Before anything starts: report a folder that cannot be read at once.
  const samplesFolder = samplesFolderOf(folder);
  const samples = await loadSamples(samplesFolder, print);
  const servesHttp = options.httpObjects === true || samples.some(namesHttpKind);
  await loadManifests([folder], { mayBeEmpty: servesHttp });
  const random = createSystemRandom();
  const shared = { ...options, random, logger, print };
  const members = await startDevMembers(options.clusters, shared);
  try {
    const namespace = definitionsNamespace;
    const devCluster = usesCluster
      ? undefined
      : await startDevCluster({
          ...shared,
          namespace,
          defaultLabels: { [httpLabel]: 'true' },
          members,
        });
    if (devCluster !== undefined) print(welcomeText(devCluster, options, members));
    const serving = {
      folder,
      samplesFolder,
      servesHttp,
      options,
      devCluster,
      members,
      screen,
      logger,
      random,
      hasColor,
    };
    try {
      await serve(serving, signal);
    } finally {
      await devCluster?.stop();
    }
  } finally {
    await stopDevMembers(members);
  }
  return exitCode.ok;
}

function welcomeText(
  { url }: DevCluster,
  { writeKubeconfig }: DevOptions,
  members: readonly DevMember[],
): string {
  return [
    `Homeostat ${version} with a Kubernetes API of its own: controllers are simulated, nothing runs in its Pods`,
    '',
    `  export KUBECONFIG=${resolve(writeKubeconfig)}`,
    `  ${url}/apis`,
    ...(members.length === 0
      ? []
      : [`  Member clusters, as contexts: ${members.map(({ name }) => name).join(', ')}`]),
    '',
  ].join('\n');
}

/** What a newcomer sees whose definition has objects behind HTTP. */
function simulatedText(origin: string): string {
  return [
    `${origin} is simulated: Services of the sandbox accept no connections`,
    '  It stores what HttpObjects send; what they only read does not exist in it.',
    '  For an API on this machine: "url: http://127.0.0.1:PORT". For a test: "spec.apis" of an OperatorTest.',
  ].join('\n');
}

function samplesFolderOf(folder: string): string {
  const isFile = /\.(?:ya?ml|json)$/.test(folder);
  return join(isFile ? dirname(folder) : folder, 'samples');
}

interface ServeOptions {
  readonly folder: string;
  readonly samplesFolder: string;
  /** Whether objects behind HTTP are managed without a definition that uses them. */
  readonly servesHttp: boolean;
  readonly options: DevOptions;
  readonly devCluster: DevCluster | undefined;
  readonly members: readonly DevMember[];
  readonly screen: Screen;
  readonly logger: Logger;
  readonly random: Random;
  readonly hasColor: boolean;
}

async function serve(serving: ServeOptions, signal: AbortSignal) {
  const { folder, options, devCluster, members, screen, logger, random, hasColor } = serving;
  const clock = createSystemClock();
  const config =
    devCluster === undefined
      ? await loadClusterConfig(options)
      : await loadKubeConfig({
          kubeconfig: options.writeKubeconfig,
          parseYaml: parseKubeconfig,
        });
  limitHeapGrowth(process);
  const metrics = createMetricRegistry();
  const cluster = createKubeCluster({ config, clock, random, logger, metrics });
  const { ReconcileRecorder } = await import('#console');
  const records = options.console
    ? new ReconcileRecorder({ clock, random, queues: () => session.queues })
    : undefined;
  const clients = members.map((member) => devMemberClient(member, logger, random));
  const capacity = createCapacity();
  const rules = withAdmissionChecks(createManifestCheck(bundledSchemas()));
  const shared = { clock, random, logger, metrics, namespace: definitionsNamespace };
  const conversion =
    devCluster === undefined
      ? (await loadConversion({ ...shared, flags: options }))?.(cluster)
      : simulatedConversion;
  const session: DevSession = new DevSession({
    ...(records && { observer: records }),
    cluster,
    ...(devCluster !== undefined && { schemaDelayMs: 0 }),
    // Without simulated members the kind is served, so that definitions which use it run. On a real cluster, members are not connected.
    ...(devCluster !== undefined && {
      members: {
        clusters: clients,
        // A definition may create members, with Secrets in any namespace of the sandbox.
        secrets: { namespace: definitionsNamespace, allowed: ['*'] },
        connect: memberClients({
          clock,
          random,
          logger,
          ownServers: members.map(({ url }) => url),
        }),
      },
    }),
    ...(conversion && { conversion }),
    clock,
    random,
    logger,
    capacity,
    ownControllers: [
      createHttpController({
        ...{ cluster, clock, random, logger, metrics, memory: capacity.memory },
        ...{ environment: process.env, isAlwaysServed: serving.servesHttp },
        server: devCluster === undefined ? config.server : undefined,
        // The API under development runs beside this process.
        allowed: [...loopback, ...httpRulesOf(options.httpAllow)],
        namespace: undefined,
        ...(devCluster !== undefined && {
          onSimulated: (origin) => screen.print(simulatedText(origin)),
        }),
      }),
    ],
    sources: [
      createDirectorySource({
        path: folder,
        clock,
        logger,
        skips: snapshotFiles(options, members),
      }),
      createConfigMapSource({ cluster, namespace: definitionsNamespace }),
    ],
    definitionsNamespace,
    check: rules.check,
    samplesFolder: serving.samplesFolder,
    appliesSamples: options.samples ?? devCluster?.isRestored === false,
    checkSamples: (objects, definitions) => checkObjectsOf(definitions, objects),
    hasColor,
    print: (text, content) => screen.print(text, content),
    onErrors: showErrors(screen),
    onTree: showTree(screen),
  });
  const server = records
    ? await startDevConsole({
        records,
        folder,
        cluster,
        clock,
        random,
        logger,
        isSandbox: devCluster !== undefined,
      })
    : undefined;
  if (server !== undefined) screen.print(`  ${server.url}  (console)\n`);
  let stopFollowing = () => {};
  try {
    stopFollowing = await joinDevMembers(cluster, members, definitionsNamespace);
    await session.run(signal);
  } finally {
    await server?.close();
    stopFollowing();
    await Promise.all(clients.map((client) => client.close()));
    await cluster.close();
    rules.close();
  }
}

interface DevConsoleOptions {
  readonly folder: string;
  readonly cluster: KubeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly isSandbox: boolean;
  readonly records: ReconcileRecords;
}

/** The console of the session: it may edit the cluster, and the files of the folder. */
async function startDevConsole({
  folder,
  isSandbox,
  ...shared
}: DevConsoleOptions): Promise<ConsoleServer> {
  const { ConsoleService } = await import('#console');
  const { folderFiles, startConsoleServer } = await import('#console/node/index.ts');
  const backend = new ConsoleService({
    ...shared,
    info: { home: 'dev', version, cluster: isSandbox ? 'sandbox' : 'dev', canEdit: true },
    files: folderFiles(folder, shared.random),
  });
  return startConsoleServer({ ...shared, backend });
}

/** Snapshots may be in the folder of the definitions. */
function snapshotFiles(hub: DevOptions, members: readonly DevMember[]): readonly string[] {
  return [hub, ...members].flatMap(({ persist }) => persist ?? []);
}

/** Keeps errors on a terminal until they are corrected, and prints new ones to a file or pipe. */
function showErrors(screen: Screen): DevSessionOptions['onErrors'] {
  if (process.stdout.isTTY === true) return (_changed, all) => screen.pin(all);
  return (changed) => {
    if (changed !== '') screen.print(changed, 'colored');
  };
}

/** Draws the tree on a terminal, and prints only its changes to a file or pipe. */
function showTree(screen: Screen): DevSessionOptions['onTree'] {
  if (process.stdout.isTTY === true)
    return (tree) =>
      screen.show(tree.length === 0 ? [] : ['', ...treeLines(tree, process.stdout.columns)]);
  let printed: PrintedTree = new Map();
  return (tree, rootKinds) => {
    const changes = treeChanges(printed, tree, rootKinds);
    printed = changes.printed;
    for (const line of changes.lines) screen.print(line);
  };
}

/** The command that prints a tree that does not fit on the screen. */
function overflowHint({ kubeconfig, context, writeKubeconfig }: DevOptions): string {
  const flags = [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(context === undefined ? [] : ['--context', context]),
  ];
  const isElsewhere = flags.length === 0 && writeKubeconfig !== defaultKubeconfig;
  if (isElsewhere) flags.push('--kubeconfig', writeKubeconfig);
  return `: ${['homeostat tree -A', ...flags].join(' ')}`;
}

function processTerminal(): Terminal {
  const { stdout } = process;
  return {
    write: (text) => void stdout.write(text),
    get columns() {
      return stdout.columns ?? 80;
    },
    get rows() {
      return stdout.rows ?? 24;
    },
  };
}
