/**
 * The style that the site adds to the theme of VitePress: for all pages, for the first page, and for the reference.
 *
 * @module
 */

/**
 * Shows the one of two pictures that fits the switch of the site, and has room for code of about 110 columns. Its
 * colors have a contrast of 4.5 to 1. The theme's own colors miss it on buttons and on the language of code. Labels of
 * diagrams have the height that Mermaid has measured.
 */
const ALL = `html:not(.dark) .dark-only, .dark .light-only { display: none }
:root { --vp-layout-max-width: 1640px; --vp-code-font-size: 13px; --vp-code-lang-color: var(--vp-c-text-2) }
.dark { --vp-code-lang-color: var(--vp-c-text-2) }
html:not(.dark) { --vp-button-brand-bg: var(--vp-c-brand-2); --vp-button-brand-hover-bg: var(--vp-c-brand-1) }
.vp-doc .diagram { overflow-x: auto }
.vp-doc .diagram p { line-height: 24px; margin: 0 }
.DocSearch-Button-Key[data-key]::before { content: attr(data-key) }
@media (min-width: 1440px) { .VPDoc.has-aside .content-container.content-container { max-width: 900px } }`;

/** Puts the picture beside the claim, and everything of the first screen into 1280 by 800 pixels. */
const HOME = `.VPHome .VPHero { padding: calc(var(--vp-nav-height) + 28px) 24px 12px }
.VPHome .VPHero .name, .VPHome .VPHero .text { max-width: none; font-size: 34px; line-height: 40px }
.VPHome .VPHero .tagline { max-width: none; font-size: 16px; line-height: 24px }
.VPHome .VPHero .image { order: 2; margin: 16px 0 0 }
.VPHome .VPHero .main { order: 1 }
.VPHome .VPHero .image-bg { display: none }
.VPHome .VPHero .image-container { display: block; width: 100%; height: auto; transform: none; margin: 0 }
.VPHome .terminal { aspect-ratio: 760 / 342 }
.VPHome .terminal img { width: 100%; height: auto; border-radius: 8px }
.VPHome .start { text-align: left; margin-top: 12px }
.VPHome .start p { font-size: 14px; color: var(--vp-c-text-2) }
.VPHome .start pre { overflow-x: auto; margin-top: 4px; padding: 10px 14px; border-radius: 8px; background: var(--vp-code-block-bg); font-size: 14px }
.VPHome .reasons { display: grid; gap: 12px; max-width: 1152px; margin: 12px auto 0; padding: 0 24px }
.VPHome .reasons li { padding: 8px 0; line-height: 22px }
.VPHome .reasons b { display: block; font-size: 26px; line-height: 32px; color: var(--vp-c-brand-1) }
.VPHome .reasons strong { display: block }
.VPHome .reasons span { font-size: 14px; color: var(--vp-c-text-2) }
.VPHome .VPFeatures { padding: 12px 24px }
.VPHome .VPFeatures .items { margin: -6px }
.VPHome .VPFeatures .item.item { padding: 6px; width: 100% }
.VPHome .VPFeatures .box { padding: 10px 16px }
.VPHome .VPFeatures .details { padding-top: 0 }
@media (min-width: 640px) {
  .VPHome .reasons { grid-template-columns: repeat(3, 1fr); padding: 0 64px; max-width: 1280px }
  .VPHome .VPHero.VPHero { padding-left: 64px; padding-right: 64px }
  .VPHome .VPFeatures.VPFeatures { padding: 12px 64px }
  .VPHome .VPFeatures .item.item { width: 20% }
}
@media (min-width: 960px) {
  .VPHome .VPHero .container.container { display: grid; grid-template-columns: minmax(0, 44fr) minmax(0, 56fr); align-items: center; gap: 32px }
  .VPHome .VPHero .main.main.main { width: auto; max-width: none }
  .VPHome .VPHero .image { margin: 0 }
}`;

/** Lets long signatures and tables break, and puts the cells of tables below each other on phones. */
const REFERENCE =
  `.reference .signature { overflow-x: auto; margin: 16px 0; padding: 12px 16px; border-radius: 8px; background: var(--vp-code-block-bg); font-size: 13px; line-height: 20px; white-space: pre-wrap; overflow-wrap: anywhere }
.reference .vp-doc .signature code { padding: 0; background: none; color: var(--vp-c-text-1); font-size: inherit }
.reference .vp-doc code a { color: var(--vp-c-brand-1); text-decoration: none }
.reference .vp-doc h1, .reference .vp-doc h2, .reference .vp-doc h3 { overflow-wrap: anywhere }
.reference .vp-doc td code { white-space: pre-wrap; overflow-wrap: anywhere }
@media (max-width: 640px) {
  .reference .vp-doc tr, .reference .vp-doc td { display: block; border: 0; padding: 2px 8px }
  .reference .vp-doc thead { display: none }
  .reference .vp-doc tr { padding: 8px 0; border-top: 1px solid var(--vp-c-divider) }
}`;

/** The whole style. */
export const STYLE: string = [ALL, HOME, REFERENCE].join("\n");
