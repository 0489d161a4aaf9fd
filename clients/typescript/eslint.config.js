// What the compiler does not see: the type-aware rules of typescript-eslint.
import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["consumer", "dist", "src/generated", "*.js", "*.mjs"] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  { files: ["test/**"], rules: { "@typescript-eslint/no-non-null-assertion": "off" } },
  {
    languageOptions: { parserOptions: { project: "./tsconfig.test.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: "test" }] }],
    },
  },
);
