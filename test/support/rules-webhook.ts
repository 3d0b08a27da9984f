import { createConverter, readRules, versionsOfCrd } from '#conversion';
import { conversionYaml } from '#definition';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';
import { ConversionWebhook } from './conversion-webhook.ts';

/** A webhook that converts by the rules in the annotations of CRDs, as the product does. `readCrd` reads one by its name. */
export function rulesWebhook(
  readCrd: (name: string) => Promise<KubeObject | undefined>,
): ConversionWebhook {
  return new ConversionWebhook(async ({ path, desiredAPIVersion, objects }) => {
    const [, , name = '', digest = ''] = path.replace(/\?.*/, '').split('/');
    const crd = await readCrd(name);
    if (crd === undefined) return undefined;
    const rules = readRules(crd.metadata.annotations?.[conversionsAnnotation] ?? '');
    const asked = rules?.byDigest.get(digest);
    if (asked === undefined)
      return `CustomResourceDefinition "${name}" has no conversion rules with the digest "${digest}"; its current ones have "${rules?.current}"`;
    const converter = createConverter({
      rules: asked,
      ...versionsOfCrd(crd),
      yaml: conversionYaml,
    });
    const version = desiredAPIVersion.slice(desiredAPIVersion.indexOf('/') + 1);
    const converted: JsonObject[] = [];
    for (const object of objects as readonly (KubeObject & JsonObject)[]) {
      const { object: result, problem } = converter.convert(object, version);
      const { namespace, name } = object.metadata;
      if (result === undefined) return `${object.kind} "${namespace}/${name}": ${problem}`;
      converted.push(result);
    }
    return converted;
  });
}
