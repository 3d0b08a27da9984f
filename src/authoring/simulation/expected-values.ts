import {
  createPlainExpressionParser,
  ExpressionError,
  type PlainExpression,
  PlainExpressionError,
} from '#compile';
import { isJsonObject, pointerTo } from '#util/json.ts';
import type { TestCluster } from './test-cluster.ts';

/** An expression of a test that is not valid, or has no result. */
export class ExpectedValueError extends Error {
  /** JSON pointer of the text, below the value that was evaluated. */
  readonly pointer: string;

  constructor(message: string, pointer: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** Objects by kind and name, as expressions of a test see them. */
type ObjectsByKind = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Evaluates `${ objects.<Kind>.<name> }` in the expectations of a test. */
export class ExpectedValues {
  readonly #cluster: TestCluster;
  readonly #parser = createPlainExpressionParser();

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  /** The value with the results of its expressions. @throws ExpectedValueError */
  async resolve<T>(value: T): Promise<T> {
    return (await this.#resolve(value, '')) as T;
  }

  async #resolve(value: unknown, pointer: string): Promise<unknown> {
    if (typeof value === 'string') return this.#evaluate(value, pointer);
    if (Array.isArray(value))
      return Promise.all(value.map((item, at) => this.#resolve(item, pointerTo(pointer, at))));
    if (!isJsonObject(value)) return value;
    const fields = Object.entries(value).map(
      async ([key, field]) => [key, await this.#resolve(field, pointerTo(pointer, key))] as const,
    );
    return Object.fromEntries(await Promise.all(fields));
  }

  async #evaluate(text: string, pointer: string): Promise<unknown> {
    try {
      const expression = this.#parser.parse(text);
      if (expression === undefined) return text;
      const objects = await this.#objectsFor(expression);
      const result = await expression.evaluate({ objects });
      if (result === undefined) throw new ExpectedValueError(`${text} has no result`, pointer);
      return result;
    } catch (error) {
      if (!(error instanceof PlainExpressionError) && !(error instanceof ExpressionError))
        throw error;
      throw new ExpectedValueError(error.message, pointer);
    }
  }

  /** The objects of the kinds that an expression names. */
  async #objectsFor({ paths }: PlainExpression): Promise<ObjectsByKind> {
    const kinds = new Set(
      paths.flatMap(([root, kind]) => (root === 'objects' ? [kind ?? ''] : [])),
    );
    const loaded = [...kinds].map(async (kind) => [kind, await this.#objectsOf(kind)] as const);
    return Object.fromEntries(await Promise.all(loaded));
  }

  /** Those of the test's namespace and cluster-scoped ones by name, others by `namespace/name`. */
  async #objectsOf(name: string): Promise<Readonly<Record<string, unknown>>> {
    const kind = await this.#cluster.kindNamed(name);
    if (kind === undefined) return {};
    const objects = await this.#cluster.list(kind);
    return Object.fromEntries(objects.map((object) => [this.#cluster.nameOf(object), object]));
  }
}
