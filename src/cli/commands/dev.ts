import { dirname, join, resolve } from 'node:path';
import { bundledSchemas } from '../../compile/index.ts';
import {
  createTextLogger,
  DevSession,
  Screen,
  type Terminal,
  type ToldTree,
  type TreeNode,
  treeChanges,
  treeLines,
} from '../../dev/index.ts';
import { createKubeCluster, loadKubeConfig } from '../../kube/index.ts';
import { createDirectorySource, createTextCheck } from '../../runtime/index.ts';
import { createMetricRegistry, type Logger, type LogLevel } from '../../telemetry/index.ts';
import { createSystemClock } from '../../util/clock.ts';
import { createSystemRandom, type Random } from '../../util/random.ts';
import { createCapacity } from '../capacity.ts';
import { exitCode } from '../exit-code.ts';
import { loadClusterConfig } from '../kubeconfig-flags.ts';
import { loadTexts } from '../load-texts.ts';
import { version } from '../version.ts';
import { defaultKubeconfig } from './default-kubeconfig.ts';
import { type DevWorld, startDevWorld } from './dev-world.ts';

export interface DevOptions {
  /** A real cluster in place of the sandbox. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly writeKubeconfig: string;
  readonly persist?: string;
  readonly port: number;
  /** Undefined = in a sandbox that is new. */
  readonly samples?: boolean;
  readonly logLevel: LogLevel;
}

/**
 * `homeostat dev [DIR]`: runs the definitions of a folder in a sandbox (or a real cluster), applies its samples, shows what comes of it, and
 * reloads what is saved, until the signal aborts.
 * @returns the exit code
 * @throws CliError when it cannot start.
 */
export async function dev(
  folder: string,
  options: DevOptions,
  signal: AbortSignal,
): Promise<number> {
  const screen = new Screen(processTerminal(), howToSeeAll(options));
  const print = (text: string) => screen.print(text);
  const logger = createTextLogger({ level: options.logLevel, print });
  // Before anything starts: a folder that cannot be read is told at once.
  await loadTexts([folder]);
  const usesCluster = options.kubeconfig !== undefined || options.context !== undefined;
  const random = createSystemRandom();
  const world = usesCluster
    ? undefined
    : await startDevWorld({ ...options, random, logger, print });
  if (world !== undefined) print(welcome(world, options));
  try {
    await serve({ folder, options, world, screen, logger, random }, signal);
  } finally {
    await world?.stop();
  }
  return exitCode.ok;
}

function welcome({ url }: DevWorld, { writeKubeconfig }: DevOptions): string {
  return [
    `Homeostat ${version} with a Kubernetes API of its own: controllers are simulated, nothing runs in its Pods`,
    '',
    `  export KUBECONFIG=${resolve(writeKubeconfig)}`,
    `  ${url}/apis`,
    '',
  ].join('\n');
}

interface Serving {
  readonly folder: string;
  readonly options: DevOptions;
  readonly world: DevWorld | undefined;
  readonly screen: Screen;
  readonly logger: Logger;
  readonly random: Random;
}

async function serve(serving: Serving, signal: AbortSignal) {
  const { folder, options, world, screen, logger, random } = serving;
  const clock = createSystemClock();
  const config =
    world === undefined
      ? await loadClusterConfig(options)
      : await loadKubeConfig({ kubeconfig: options.writeKubeconfig });
  const metrics = createMetricRegistry();
  const cluster = createKubeCluster({ config, clock, random, logger, metrics });
  const isFile = /\.(?:ya?ml|json)$/.test(folder);
  const session = new DevSession({
    cluster,
    clock,
    random,
    logger,
    capacity: createCapacity(),
    sources: [createDirectorySource({ path: folder, clock, logger, skips: worldFiles(options) })],
    check: createTextCheck(bundledSchemas()),
    samplesFolder: join(isFile ? dirname(folder) : folder, 'samples'),
    appliesSamples: options.samples ?? world?.isRestored === false,
    hasColor: process.stdout.isTTY === true && !process.env.NO_COLOR,
    print: (text) => screen.print(text),
    onTree: showTree(screen),
  });
  try {
    await session.run(signal);
  } finally {
    await cluster.close();
  }
}

/** The world may be kept in the folder of the definitions. */
function worldFiles({ persist }: DevOptions): readonly string[] {
  return persist === undefined ? [] : [persist];
}

/** The tree as it is, where it can be drawn again in place; what has changed in it, everywhere else. */
function showTree(screen: Screen): (tree: readonly TreeNode[]) => void {
  if (process.stdout.isTTY === true)
    return (tree) => screen.show(tree.length === 0 ? [] : ['', ...treeLines(tree)]);
  let told: ToldTree = new Map();
  return (tree) => {
    const changes = treeChanges(told, tree);
    told = changes.told;
    for (const line of changes.lines) screen.print(line);
  };
}

/** What of the tree has no room can be asked for from another terminal, where that finds the kubeconfig. */
function howToSeeAll({ kubeconfig, context, writeKubeconfig }: DevOptions): string {
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
