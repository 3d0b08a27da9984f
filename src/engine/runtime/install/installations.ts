import type { OwnPart } from '#util/stored-names.ts';
import {
  type InstallProblem,
  type InstallTask,
  type InstallTasks,
  ownParts,
} from '../definitions/install-tasks.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import { Installation } from './installation.ts';
import type { InstallationOptions } from './installation-options.ts';

interface InstallationsOptions extends Omit<InstallationOptions, 'name' | 'part' | 'listener'> {
  readonly listenerOf: (name: string) => ViewListener;
}

/** The objects of all definitions themselves, of each part. */
export class Installations implements InstallTasks {
  readonly #options: InstallationsOptions;
  readonly #installations = new Map<string, Installation>();
  readonly #stopper = new AbortController();

  constructor(options: InstallationsOptions) {
    this.#options = options;
  }

  want(name: string, part: OwnPart, task: InstallTask): void {
    const key = keyOf(name, part);
    const known = this.#installations.get(key);
    if (known === undefined && task.kind === 'keep') return;
    const listener = this.#options.listenerOf(name);
    const installation =
      known ?? new Installation({ ...this.#options, name, part, listener }, this.#stopper.signal);
    this.#installations.set(key, installation);
    installation.want(task);
  }

  problemOf(name: string, part: OwnPart): InstallProblem | undefined {
    return this.#installations.get(keyOf(name, part))?.problem;
  }

  isDone(name: string, part: OwnPart): boolean {
    return this.#installations.get(keyOf(name, part))?.isDone ?? true;
  }

  async forget(name: string): Promise<void> {
    const known = ownParts.map((part) => keyOf(name, part));
    const ended = known.map((key) => this.#installations.get(key)?.stop());
    for (const key of known) this.#installations.delete(key);
    await Promise.all(ended);
  }
}

function keyOf(name: string, part: OwnPart): string {
  return `${part}/${name}`;
}
