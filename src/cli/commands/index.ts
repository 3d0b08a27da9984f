import { type Command, InvalidArgumentError, Option } from 'commander';
import { logLevels } from '../../telemetry/index.ts';
import type { ProgramContext } from '../program.ts';
import type { DevOptions } from './dev.ts';

/** Adds the commands for those who try things out: a world of one's own, and a look at it. */
export function addDevCommands(program: Command, context: ProgramContext): void {
  const { signal, exit } = context;
  program
    .command('dev')
    .description('run definitions in a Kubernetes API of their own, and reload what is saved')
    .argument('[dir]', 'directory with definitions; samples in its folder "samples"', 'operators')
    .option('--kubeconfig <file>', 'run them in this cluster instead')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--write-kubeconfig <file>',
      'where to write the kubeconfig of the API',
      '.homeostat/kubeconfig',
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

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Expected a port number.');
}
