import { type Command, InvalidArgumentError, Option } from 'commander';
import { logLevels } from '../../telemetry/index.ts';
import type { ProgramContext } from '../program.ts';
import type { ApplyOptions } from './apply.ts';
import type { ClusterFlags } from './cluster-session.ts';
import { defaultKubeconfig } from './default-kubeconfig.ts';
import type { DeleteOptions } from './delete.ts';
import type { DevOptions } from './dev.ts';
import type { EventsOptions } from './events.ts';
import type { GetOptions } from './get.ts';

/** Flags of `dev` that say something of its own API: a cluster has none of them. */
const ofTheSandbox = ['persist', 'port', 'writeKubeconfig'];

/** Adds the commands for those who try things out: a world of one's own, and a look at it. */
export function addDevCommands(program: Command, context: ProgramContext): void {
  addDev(program, context);
  addGet(program, context);
  addApply(program, context);
  addDelete(program, context);
  addDescribe(program, context);
  addTree(program, context);
  addEvents(program, context);
}

function addDev(program: Command, { signal, exit }: ProgramContext): void {
  program
    .command('dev')
    .description('run definitions in a Kubernetes API of their own, and reload what is saved')
    .argument('[dir]', 'directory with definitions; samples in its folder "samples"', 'operators')
    .addOption(
      new Option('--kubeconfig <file>', 'run them in this cluster instead').conflicts(ofTheSandbox),
    )
    .addOption(
      new Option(
        '--context <name>',
        'context of the kubeconfig (default: its current one)',
      ).conflicts(ofTheSandbox),
    )
    .option(
      '--write-kubeconfig <file>',
      'where to write the kubeconfig of the API',
      defaultKubeconfig,
    )
    .option('--persist <file>', 'keep the world in this file (default: it ends with the command)')
    .option('--port <number>', 'port of the API (default: any free one)', parsePort, 0)
    .option('--samples', 'apply the samples (default: in a world that is new)')
    .option('--no-samples', 'do not apply the samples')
    .addOption(
      new Option('--log-level <level>', 'least urgent lines to write')
        .choices(logLevels)
        .default('warn'),
    )
    .action(async (folder: string, options: DevOptions) => {
      const { dev } = await import('./dev.ts');
      exit(await dev(folder, options, signal));
    });
}

function addGet(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('get')
    .description('list objects, or show them')
    .argument('<types>', 'kinds: "pods", "po,svc", "all"; or "podset/example"')
    .argument('[names...]', 'only these (default: all)')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-l, --selector <selector>', 'only those with these labels: "app=web,tier!=db"')
    .addOption(
      new Option('-o, --output <format>', 'how to show them (default: a table)').choices([
        'wide',
        'yaml',
        'json',
        'name',
      ]),
    );
  addClusterFlags(command).action(
    async (types: string, names: readonly string[], options: GetOptions & ClusterFlags) => {
      const { get } = await import('./get.ts');
      exit(await get({ ...context, flags: options }, { types, names, options }));
    },
  );
}

function addApply(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('apply')
    .description('create or change objects by server-side apply')
    .requiredOption('-f, --filename <path...>', 'files or directories; "-" for standard input')
    .option('--force-conflicts', 'take fields from others who manage them');
  addClusterFlags(command).action(async (options: ApplyOptions & ClusterFlags) => {
    const { apply } = await import('./apply.ts');
    exit(await apply({ ...context, flags: options }, options));
  });
}

function addDelete(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('delete')
    .description('delete objects by kind and name, or those in files')
    .argument('[types]', 'kinds: "pods", "podset"; or "podset/example"')
    .argument('[names...]', 'names of the objects')
    .option('-f, --filename <path...>', 'files or directories; "-" for standard input')
    .option('--ignore-not-found', 'what is not there is fine')
    .addOption(
      new Option('--cascade <how>', 'what becomes of what belongs to them')
        .choices(['background', 'foreground', 'orphan'])
        .default('background'),
    );
  addClusterFlags(command).action(
    async (
      types: string | undefined,
      names: readonly string[],
      options: DeleteOptions & ClusterFlags,
    ) => {
      const { deleteObjects } = await import('./delete.ts');
      exit(await deleteObjects({ ...context, flags: options }, { types, names, options }));
    },
  );
}

function addDescribe(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('describe')
    .description('show an object with what belongs to it and what was told of it')
    .argument('<types>', 'kinds: "podset"; or "podset/example"')
    .argument('[names...]', 'only these (default: all)');
  addClusterFlags(command).action(
    async (types: string, names: readonly string[], flags: ClusterFlags) => {
      const { describe } = await import('./describe.ts');
      exit(await describe({ ...context, flags }, { types, names }));
    },
  );
}

function addTree(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('tree')
    .description('show resources and below each what belongs to it')
    .argument('[types]', 'kinds: "podsets" (default: all custom ones); or "podset/example"')
    .argument('[names...]', 'only these (default: all)')
    .option('-A, --all-namespaces', 'in all namespaces');
  addClusterFlags(command).action(
    async (
      types: string | undefined,
      names: readonly string[],
      options: { readonly allNamespaces?: boolean } & ClusterFlags,
    ) => {
      const { tree } = await import('./tree.ts');
      exit(await tree({ ...context, flags: options }, { types, names, options }));
    },
  );
}

function addEvents(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('events')
    .description('show what was told of objects, oldest first')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--for <object>', 'only of this one: "podset/example"');
  addClusterFlags(command).action(async (options: EventsOptions & ClusterFlags) => {
    const { events } = await import('./events.ts');
    exit(await events({ ...context, flags: options }, options));
  });
}

function addClusterFlags(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the kubeconfig)')
    .option('--kubeconfig <file>', 'kubeconfig (default: of a running "homeostat dev", KUBECONFIG)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)');
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Expected a port number.');
}
