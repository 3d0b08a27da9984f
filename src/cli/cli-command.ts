import { Command } from 'commander';
import { exitCode } from './exit-code.ts';

/** A command, and the program itself, with what `main` must know of it. */
export class CliCommand extends Command {
  /** The exit code for wrong use, also of its flags, and for errors. */
  errorCode: number = exitCode.usage;

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** The command that a command line calls, by its name or an alias; the program itself if it names none. */
  called(words: readonly string[]): CliCommand {
    const word = words.find((each) => !each.startsWith('-')) ?? '';
    const found = this.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    return found instanceof CliCommand ? found : this;
  }
}
