import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError } from './exit-code.ts';

/** Where definitions may come from. */
export const sourceKinds = ['configmaps', 'directories', 'objects'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Flags that say where definitions come from. */
export interface SourceFlags {
  /** Directories or files with definitions; `-` is standard input. @default none */
  readonly definitions?: readonly string[];
  /** Whose ConfigMaps are read. @default where the runtime lives */
  readonly definitionsNamespace?: string;
  /** @default see {@link chooseSources} */
  readonly sources?: readonly SourceKind[];
}

export function addSourceFlags(command: Command): Command {
  return command
    .option('--definitions <path...>', 'directories or files with definitions')
    .option(
      '--definitions-namespace <name>',
      'namespace of the ConfigMaps with definitions (default: --namespace)',
    )
    .addOption(
      new Option(
        '--sources <list>',
        'what definitions are read from: configmaps, directories, objects (default: directories with --definitions, else configmaps,objects)',
      ).argParser(parseSources),
    );
}

/**
 * The sources to read. Who names directories alone means these alone: on a laptop that must not serve what somebody has put into the
 * cluster.
 * @throws CliError where the flags contradict each other.
 */
export function chooseSources(flags: SourceFlags): readonly SourceKind[] {
  const { definitions, definitionsNamespace, sources = defaultSources(flags) } = flags;
  const hasPaths = definitions !== undefined && definitions.length > 0;
  if (sources.includes('directories') !== hasPaths)
    throw new CliError(
      hasPaths
        ? 'With --definitions the sources must hold "directories"'
        : 'The source "directories" needs --definitions',
      { hint: 'As in --definitions my-operators/ --sources directories,configmaps' },
    );
  if (definitionsNamespace !== undefined && !sources.includes('configmaps'))
    throw new CliError('With --definitions-namespace the sources must hold "configmaps"');
  return sources;
}

function defaultSources({ definitions, definitionsNamespace }: SourceFlags): readonly SourceKind[] {
  if (definitions === undefined) return ['configmaps', 'objects'];
  return definitionsNamespace === undefined ? ['directories'] : ['directories', 'configmaps'];
}

function parseSources(text: string): readonly SourceKind[] {
  const words = text.split(',').map((word) => word.trim());
  const found = sourceKinds.filter((kind) => words.includes(kind));
  const unknown = words.filter((word) => !found.some((kind) => kind === word));
  if (unknown.length > 0 || found.length === 0)
    throw new InvalidArgumentError(`Expected some of ${sourceKinds.join(', ')}.`);
  return found;
}
