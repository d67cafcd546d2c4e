export default { output: "export", distDir: "site" };
