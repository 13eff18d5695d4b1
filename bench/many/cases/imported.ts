/** M6: the toolkit, imported and not used. */
import "../../../mod.ts";
