// ECharts in one file: it loads in 50 ms, the package's own entry in 430 ms.
declare module 'echarts/dist/echarts.esm.min.mjs' {
  export * from 'echarts';
}
