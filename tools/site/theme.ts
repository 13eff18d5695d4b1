/**
 * Mends of VitePress's own theme, without which its pages fail checks of accessibility.
 *
 * {@linkcode mendTheme} is the entry point, a plugin of Vite. The version of VitePress is locked. With another one, a
 * place that is no longer there ends the build, and the mend is compared with the new theme.
 *
 * @module
 */

/** As much of a plugin of Vite as is used. */
export interface Plugin {
  readonly name: string;
  readonly enforce: "pre";
  transform(code: string, id: string): string | undefined;
}

/** The text in the theme's components, and the text that takes its place. */
const MENDS: Readonly<Record<string, readonly (readonly [before: string, after: string])[]>> = {
  // The first page has no landmark for its content.
  "VPHome.vue": [['class="VPHome"', 'class="VPHome" role="main"']],
  // The key is text of the button, which its name does not have. A style shows it.
  "VPNavBarSearchButton.vue": [[
    '<kbd class="DocSearch-Button-Key">K</kbd>',
    '<kbd class="DocSearch-Button-Key" data-key="K"></kbd>',
  ]],
  // Each section is a button that does nothing while sections do not collapse.
  "VPSidebarItem.vue": [
    [':role="itemRole"', ':role="collapsible ? itemRole : undefined"'],
    [':tabindex="item.items && 0"', ':tabindex="collapsible ? 0 : undefined"'],
  ],
};

/** Makes the plugin. */
export function mendTheme(): Plugin {
  return {
    name: "accessible-theme",
    enforce: "pre",
    transform(code, id): string | undefined {
      const file = /\/theme-default\/components\/(\w+\.vue)$/.exec(id)?.[1] ?? "";
      return MENDS[file]?.reduce((text, [before, after]) => {
        if (!text.includes(before)) {
          throw new Error(
            `Cannot mend ${file} of VitePress: it has no ${before}. Correct MENDS in tools/site/theme.ts.`,
          );
        }
        return text.replace(before, after);
      }, code);
    },
  };
}
