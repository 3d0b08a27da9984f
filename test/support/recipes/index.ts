export { validateCommand } from './homeostat-command.ts';
export { RecipeKubelet } from './recipe-kubelet.ts';
export {
  applyDiff,
  type RecipePage,
  recipeHeadings,
  recipeIndex,
  recipePages,
} from './recipe-page.ts';
export { RecipeRun } from './recipe-run.ts';
export { defaultsSince, hasDefaults, untilAdmitted } from './until-admitted.ts';
export { untilServed } from './until-served.ts';
