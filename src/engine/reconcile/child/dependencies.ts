import { elementKey } from '#compile';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { isReadyNow } from './readiness.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';

/** What must be ready before an element, for people: its creation and its intent changes wait for it. */
export type Dependencies = (each: ResolvedElement) => readonly string[];

const none: Dependencies = () => [];

/** What of the children in `after` is not ready; of those in several clusters, the elements in the cluster of the waiting one count. */
export async function dependenciesOf(pass: Pass, child: ResolvedChild): Promise<Dependencies> {
  const { after, afterSame = [] } = child.plan;
  if (after.length === 0) return none;
  const whole = await wholeChildren(
    pass,
    child,
    after.filter((id) => !afterSame.includes(id)),
  );
  if (afterSame.length === 0) return whole;
  const others = await Promise.all(afterSame.map((id) => sameElements(pass, id)));
  return (each) => [...whole(each), ...others.flatMap((other) => other(each))];
}

async function wholeChildren(
  pass: Pass,
  { elements }: ResolvedChild,
  ids: readonly string[],
): Promise<Dependencies> {
  const unready = new Map<string | undefined, readonly string[]>();
  for (const cluster of new Set([undefined, ...elements.map((each) => each.cluster)])) {
    const held: string[] = [];
    for (const id of ids) {
      if (!(await isReady(pass, id, cluster))) held.push(`children.${id} to be ready`);
    }
    unready.set(cluster, held);
  }
  return (each) => unready.get(each.cluster) ?? [];
}

async function isReady(pass: Pass, id: string, cluster: string | undefined): Promise<boolean> {
  const child = pass.effects.children.get(id);
  if (child === undefined) return false;
  for (const element of child.elements) {
    if (counts(element, cluster) && !(await isReadyNow(pass, element))) return false;
  }
  return true;
}

/** @param cluster The member cluster of the waiting element. Undefined: that of the resource, or unknown. */
function counts(element: ElementResult, cluster: string | undefined): boolean {
  return element.cluster === undefined || cluster === undefined || element.cluster === cluster;
}

/** The elements of another child that are not ready: each is awaited by those with its key (`element: same`). */
async function sameElements(pass: Pass, id: string): Promise<Dependencies> {
  const child = pass.effects.children.get(id);
  // A child that is not desired holds nothing.
  if (child?.resolution === 'omitted') return none;
  const all = child?.elements ?? [];
  // Without a list, it is not known which elements there are.
  if (child === undefined || all.some(({ element }) => element === undefined))
    return () => [`children.${id} to be ready`];
  const byKey = Map.groupBy(all, ({ element }) => elementKey(element?.item));
  const unready = new Set<ElementResult>();
  for (const each of all) if (!(await isReadyNow(pass, each))) unready.add(each);
  return ({ element, cluster }) => {
    const found = byKey.get(elementKey(element?.item)) ?? [];
    if (found.length === 0) return [`children.${id} to have an element with the same key`];
    const here = found.filter((each) => counts(each, cluster));
    return (here.length > 0 ? here : found)
      .filter((each) => unready.has(each))
      .map((each) => `${textOf(each, id)} to be ready`);
  };
}

function textOf({ name, plan }: ElementResult, id: string): string {
  return name === ''
    ? `the element of children.${id} with the same key`
    : objectText(plan.gvk.kind, name, plan);
}
