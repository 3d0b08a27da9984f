import { Command, Option } from 'commander';
import { logLevels } from '../telemetry/index.ts';
import { addDevCommands } from './commands/index.ts';
import type { Output } from './output.ts';
import type { RunOptions } from './run.ts';
import { version } from './version.ts';

export interface ProgramContext {
  readonly output: Output;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Takes the exit code of the command that ran. */
  readonly exit: (code: number) => void;
}

/** All commands and their flags. Each loads its own world when it is called: `validate` must not wait for an HTTP client. */
export function createProgram({ output, signal, exit }: ProgramContext): Command {
  const program = new Command('homeostat')
    .description('Operators for Kubernetes without code')
    .version(version, '-v, --version')
    .showHelpAfterError('(see homeostat --help)')
    .configureOutput({
      writeOut: (text) => output.print(text.trimEnd()),
      writeErr: (text) => output.error(text.trimEnd()),
    });
  program
    .command('run')
    .description('serve operator definitions in a cluster until stopped')
    .requiredOption('--definitions <path...>', 'directories or files with definitions')
    .option(
      '--kubeconfig <file>',
      'kubeconfig (default: KUBECONFIG, ~/.kube/config, or the service account of the pod)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--http <address>',
      'host:port for /healthz, /readyz and /metrics, or "off"',
      '127.0.0.1:8080',
    )
    .addOption(
      new Option('--log-level <level>', 'least urgent lines to write')
        .choices(logLevels)
        .default('info'),
    )
    .action(async (options: RunOptions) => {
      const { run } = await import('./run.ts');
      exit(await run(options, output, signal));
    });
  program
    .command('validate')
    .description('check definitions without a cluster and print every mistake')
    .argument('<path...>', 'files or directories; "-" for standard input')
    .action(async (paths: readonly string[]) => {
      const { validate } = await import('./validate.ts');
      exit(await validate(paths, output));
    });
  addDevCommands(program, { output, signal, exit });
  return program;
}
